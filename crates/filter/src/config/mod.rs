//! The plugin's JSON config: read into what the user wrote ([`raw`]), then compiled into what can't
//! be wrong ([`PoolSpec`]). All faults are reported at once, each as `path: value: reason`.

mod compile;
mod entry;
mod profiles;
pub mod raw;
mod read;

use std::collections::BTreeMap;

use headroom_scheduling::{Invalid, Scheduler};

pub use compile::compile;
pub use read::{read, read_what_can_be};

/// A config that is in force.
#[derive(Debug)]
pub struct Config {
    /// How the state of the pools comes in.
    pub feed: FeedSpec,
    /// The pools.
    pub pools: Vec<PoolSpec>,
    /// Envoy cluster → index in `pools`.
    pub clusters: BTreeMap<String, usize>,
}

/// How the state of the pools comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedSpec {
    /// The Envoy cluster of the companion.
    pub cluster: String,
    /// The pools to subscribe to, sorted.
    pub pools: Vec<String>,
    /// A stream that is silent for longer is dead.
    pub silence: headroom_datalayer::Span,
}

/// One pool.
#[derive(Debug)]
pub struct PoolSpec {
    /// Its name.
    pub name: String,
    /// How an endpoint is chosen.
    pub scheduler: Scheduler,
    /// The request headers that it reads, in lower case.
    pub headers: Vec<String>,
    /// Whether a filter asks which endpoints' requests fail.
    pub watches_failures: bool,
    /// What to do before anything is known.
    pub on_no_data: raw::OnNoData,
    /// Longest request body, bytes.
    pub max_body_bytes: u64,
    /// Where decisions are shown.
    pub explain: raw::Explain,
}

impl Config {
    /// Reads and compiles the plugin's JSON.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(json: &[u8]) -> Result<Self, Vec<Invalid>> {
        let value = serde_json::from_slice(json)
            .map_err(|error| vec![Invalid::new("", "", format!("the plugin config is not JSON: {error}"))])?;
        let (raw, mut faults) = read::read_what_can_be(value);
        // What was taken out to read on is missed only because it was.
        let is_news = |faults: &[Invalid], fault: &Invalid| {
            let follows = |known: &Invalid| {
                let below = fault.path.strip_prefix(known.path.as_str());
                let entry =
                    known.path.strip_prefix(fault.path.as_str()).and_then(|rest| rest.strip_prefix('['));
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
                    || entry
                        .and_then(|entry| entry.strip_suffix(']'))
                        .is_some_and(|index| !index.contains(']'))
            };
            !faults.iter().any(follows)
        };
        match raw.map_or_else(|| Err(Vec::new()), compile) {
            Ok(config) if faults.is_empty() => return Ok(config),
            Ok(_) => {}
            Err(more) => {
                let more: Vec<Invalid> = more.into_iter().filter(|fault| is_news(&faults, fault)).collect();
                faults.extend(more);
            }
        }
        Err(faults)
    }
}

#[cfg(test)]
mod tests;
