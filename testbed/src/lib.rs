//! Real processes on one machine, and a load to drive them: for the end-to-end tests, the demo and
//! the benchmarks.
//!
//! Every process is held by a guard that kills it when dropped, and a watchdog kills what the guards could
//! not. Nothing here waits by sleeping: see [`wait`].

pub mod access_log;
pub mod binaries;
mod companion;
mod envoy;
pub mod envoy_config;
mod fake_pool;
pub mod http;
pub mod load;
mod ports;
mod process;
pub mod stats;
pub mod wait;
mod watchdog;

pub use companion::{Companion, CompanionConfig};
pub use envoy::Envoy;
pub use envoy_config::EnvoyConfig;
pub use fake_pool::{FakePool, Replica};
pub use process::Process;
