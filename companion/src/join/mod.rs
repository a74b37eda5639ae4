//! Which GPU belongs to which endpoint.

mod dcgm;
mod inventory;
mod selector;

pub(crate) use inventory::Inventory;
pub(crate) use selector::{Card, GpuSelector, PciBusId};

#[cfg(test)]
mod tests;
