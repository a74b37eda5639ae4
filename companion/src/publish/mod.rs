//! The feed's server: pools, their changes, and who is subscribed to them.

mod hub;
mod pool;
mod service;
mod session;

pub(crate) use hub::{Change, Hub};
pub(crate) use service::serve;

#[cfg(test)]
mod tests;
