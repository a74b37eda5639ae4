//! The feed's server: pools, their changes, and who is subscribed to them.

mod drain;
mod encoded;
mod hub;
mod incoming;
mod pool;
mod service;
mod session;

pub(crate) use hub::{Change, Hub};
pub(crate) use incoming::ServerTls;
pub(crate) use service::{Settings, serve};

#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod tests;
