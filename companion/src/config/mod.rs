//! The config file of `headroom serve`: read into raw types, compiled into types that cannot be
//! wrong. Every error is reported at once.

mod attributes;
mod compile;
mod endpoint;
mod error;
mod feed;
mod files;
mod gpus;
mod pool;
mod raw;
mod reach;
pub(crate) mod read;
mod timing;

use std::{net::SocketAddr, path::Path, time::Duration};

pub(crate) use endpoint::Defaults as EndpointDefaults;
pub(crate) use error::{ConfigError, ConfigErrors};
pub(crate) use feed::Feed;
pub(crate) use read::parse_tree;

use crate::discovery::{Member, SourceSpec};

/// JSON Schema of the config file.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> serde_json::Value {
    schemars::schema_for!(raw::Root).to_value()
}

/// A config that can be served.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// How Envoy's subscriptions are served.
    pub(crate) feed: Feed,
    /// Where `/healthz`, `/readyz`, `/metrics` and `/targets` are answered.
    pub(crate) admin: SocketAddr,
    /// What holds for every scrape.
    pub(crate) scrape: Scrape,
    /// The pools, in the order of the file.
    pub(crate) pools: Vec<Pool>,
    /// What can be served and is probably not meant.
    pub(crate) warnings: Vec<String>,
}

/// What holds for every scrape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scrape {
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
    /// What says which endpoints it has.
    pub(crate) sources: Vec<SourceSpec>,
    /// The longest time between two scrapes of a model server, as far as the config tells.
    pub(crate) engine_interval: Duration,
    /// The same for GPU exporters.
    pub(crate) exporter_interval: Duration,
}

/// Reads and compiles the config in `path`.
///
/// # Errors
/// When the file cannot be read or is not valid, with everything that is wrong.
pub(crate) fn load(path: &Path) -> Result<Config, ConfigErrors> {
    read::load(path, compile::compile)
}

/// Reads and compiles one endpoint of an endpoint file, whose place there is `path`.
///
/// # Errors
/// When it is not valid, with everything that is wrong.
pub(crate) fn parse_endpoint(
    path: &str,
    entry: serde_json::Value,
    defaults: &EndpointDefaults,
) -> Result<Member, ConfigErrors> {
    let mut errors = ConfigErrors::default();
    let raw: Option<raw::Endpoint> = read::read_tree(path, entry, &mut errors);
    let member = raw.and_then(|raw| endpoint::compile_endpoint(path, raw, defaults, &mut errors));
    member.filter(|_| errors.is_empty()).ok_or(errors)
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
