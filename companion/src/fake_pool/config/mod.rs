//! The config file of `headroom fake-pool`: read into raw types, compiled into types that cannot be
//! wrong. Every error is reported at once.

mod compile;
mod raw;

use std::{net::SocketAddr, path::Path};

use crate::config::read;

use super::engine::{Condition, Limits, Timing};
use crate::config::ConfigErrors;

/// JSON Schema of the config file.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> serde_json::Value {
    schemars::schema_for!(raw::Root).to_value()
}

/// A pool that can be started.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The host that the exporter reports.
    pub(crate) hostname: String,
    /// Where the exporter and the control interface listen.
    pub(crate) exporter: SocketAddr,
    /// The model servers, in the order of the file.
    pub(crate) endpoints: Vec<EndpointConfig>,
}

/// One model server with its GPU.
#[derive(Clone, Debug)]
pub(crate) struct EndpointConfig {
    /// Unique in the pool.
    pub(crate) name: String,
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// Names that are served, at least one; the first is the one in metrics.
    pub(crate) models: Vec<String>,
    /// Tokens for a request that says no number.
    pub(crate) default_output_tokens: usize,
    /// What the engine holds.
    pub(crate) limits: Limits,
    /// What a step costs.
    pub(crate) timing: Timing,
    /// Speed and load at the start.
    pub(crate) condition: Condition,
    /// Its own stream of randomness.
    pub(crate) seed: u64,
    /// Its GPU.
    pub(crate) gpu: Gpu,
}

/// One GPU as the exporter shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    /// Unique in the pool.
    pub(crate) uuid: String,
    /// Unique in the pool.
    pub(crate) index: u8,
    /// Framebuffer in MiB.
    pub(crate) memory_mib: u32,
}

/// Reads and compiles the config in `path`.
///
/// # Errors
/// When the file cannot be read or is not valid, with everything that is wrong.
pub(crate) fn load(path: &Path) -> Result<Config, ConfigErrors> {
    read::load(path, |raw, errors| compile::compile(&raw, errors))
}

/// Reads and compiles a config, YAML or JSON.
///
/// # Errors
/// When it is not valid, with everything that is wrong.
#[cfg(test)]
pub(crate) fn parse(text: &str) -> Result<Config, ConfigErrors> {
    read::parse(text, |raw, errors| compile::compile(&raw, errors))
}

#[cfg(test)]
mod tests;
