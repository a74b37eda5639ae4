//! Which GPU belongs to which endpoint.

mod amd;
mod dcgm;
mod inventory;
mod labels;
mod pci;
mod refresh;
mod selector;
mod table;

pub(crate) use inventory::{Inventory, Unmatched};
pub(crate) use pci::PciBusId;
pub(crate) use refresh::Refresh;
pub(crate) use selector::{Card, GpuSelector};
use table::ExporterTable;

/// The GPU exporters that can be read.
const EXPORTERS: &[ExporterTable] = &[dcgm::TABLE, amd::TABLE];

/// Every row of every exporter, in the order in which they are tried.
#[cfg(feature = "schema")]
pub(crate) fn exporter_rows() -> Vec<crate::ReferenceRow> {
    let rows = |table: &'static ExporterTable| table.rows.iter().map(|row| row.describe(table.name));
    EXPORTERS.iter().flat_map(rows).collect()
}

#[cfg(test)]
mod tests;
