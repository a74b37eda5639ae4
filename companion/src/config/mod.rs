//! The config file of `headroom serve`: read into raw types, compiled into types that cannot be
//! wrong. Every error is reported at once.

mod compile;
mod error;
mod gpus;
mod raw;
pub(crate) mod read;
mod timing;

use std::{net::SocketAddr, path::Path, time::Duration};

use headroom_datalayer::{Address, Endpoint};
use reqwest::Url;

pub(crate) use error::{ConfigError, ConfigErrors};

use crate::{extract::EngineTable, join::GpuSelector};

/// JSON Schema of the config file.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> serde_json::Value {
    schemars::schema_for!(raw::Root).to_value()
}

/// A config that can be served.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// Where Envoy's subscriptions are accepted.
    pub(crate) feed: SocketAddr,
    /// Where `/healthz`, `/readyz`, `/metrics` and `/targets` are answered.
    pub(crate) admin: SocketAddr,
    /// What holds for every scrape.
    pub(crate) scrape: Scrape,
    /// The pools, in the order of the file.
    pub(crate) pools: Vec<Pool>,
    /// What is scraped: each URL once.
    pub(crate) targets: Vec<Target>,
    /// What can be served and is probably not meant.
    pub(crate) warnings: Vec<String>,
}

/// What holds for every scrape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scrape {
    /// After this a scrape is given up.
    pub(crate) timeout: Duration,
    /// The longest pause before a target that fails is tried again.
    pub(crate) max_backoff: Duration,
    /// A longer answer is refused.
    pub(crate) max_response_bytes: usize,
}

/// A named set of endpoints.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// The name that readers subscribe to.
    pub(crate) name: String,
    /// Its endpoints, no address twice.
    pub(crate) endpoints: Vec<Endpoint>,
}

/// One URL that is scraped, and whose values it holds.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Where the metrics are.
    pub(crate) url: Url,
    /// The time between two scrapes.
    pub(crate) interval: Duration,
    /// The endpoints that it tells something about.
    pub(crate) consumers: Vec<Consumer>,
}

/// An endpoint that gets values from a target.
#[derive(Clone, Debug)]
pub(crate) struct Consumer {
    /// Index into [`Config::pools`].
    pub(crate) pool: usize,
    /// The endpoint.
    pub(crate) address: Address,
    /// How its values are found in the scrape.
    pub(crate) source: Source,
}

/// How an endpoint's values are found in a scrape.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The scrape is the endpoint's own model server.
    Engine(&'static EngineTable),
    /// The scrape lists GPUs; those selected are the endpoint's.
    Gpus(GpuSelector),
}

/// Reads and compiles the config in `path`.
///
/// # Errors
/// When the file cannot be read or is not valid, with everything that is wrong.
pub(crate) fn load(path: &Path) -> Result<Config, ConfigErrors> {
    read::load(path, compile::compile)
}

/// Reads and compiles a config, YAML or JSON.
///
/// # Errors
/// When it is not valid, with everything that is wrong.
pub(crate) fn parse(text: &str) -> Result<Config, ConfigErrors> {
    read::parse(text, compile::compile)
}

#[cfg(test)]
mod tests;
