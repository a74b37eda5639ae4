//! From what was written to what can't be wrong.

use std::collections::BTreeMap;

use headroom_datalayer::Span;
use headroom_scheduling::{
    BuildContext, Invalid, NamedFilter, NamedScorer, Picker, Plugin, Profile, pickers, scorers,
};
use serde_json::{Value, json};

use super::raw::{self, PluginEntry};
use super::{Config, FeedSpec, PoolSpec};
use crate::headers::CLIENT_MAY_NOT_SEND;
use crate::registry::{self, Entry, FILTERS, PICKERS, SCORERS};

/// The companion's heartbeat is one second; a shorter limit would end healthy streams.
const MIN_SILENCE: Span = Span::from_secs(2);

/// Checks everything and makes the plugins.
///
/// # Errors
/// Everything that is wrong.
pub fn compile(raw: raw::PluginConfig) -> Result<Config, Vec<Invalid>> {
    let mut faults = Faults::default();
    if raw.feed.cluster.is_empty() {
        faults.add("feed.cluster", "\"\"", "must name the Envoy cluster of the companion");
    }
    if raw.feed.silence.0 < MIN_SILENCE {
        faults.add(
            "feed.silence",
            String::from(raw.feed.silence),
            "must be at least 2s: the companion may be silent for one",
        );
    }
    if raw.pools.is_empty() {
        faults.add("pools", "[]", "must have at least one pool");
    }
    let mut names: Vec<String> = Vec::new();
    let mut clusters = BTreeMap::new();
    let mut pools = Vec::new();
    for (index, mut pool) in raw.pools.into_iter().enumerate() {
        let path = format!("pools[{index}]");
        if pool.name.is_empty() || pool.name.contains(['/', ',']) {
            faults.add(
                format!("{path}.name"),
                format!("{:?}", pool.name),
                "must not be empty nor contain '/' or ','",
            );
        }
        if names.contains(&pool.name) {
            faults.add(
                format!("{path}.name"),
                format!("{:?}", pool.name),
                "is the name of an earlier pool, too",
            );
        }
        names.push(pool.name.clone());
        if pool.clusters.is_empty() {
            pool.clusters.push(pool.name.clone());
        }
        for (at, cluster) in pool.clusters.iter().enumerate() {
            if clusters.insert(cluster.clone(), index).is_some() {
                let path = format!("{path}.clusters[{at}]");
                faults.add(
                    path,
                    format!("{cluster:?}"),
                    "is already scheduled; a cluster belongs to one pool",
                );
            }
        }
        if let Some(spec) = compile_pool(pool, &path, &mut faults) {
            pools.push(spec);
        }
    }
    names.sort_unstable();
    let feed = FeedSpec { cluster: raw.feed.cluster, pools: names, silence: raw.feed.silence.0 };
    if faults.0.is_empty() { Ok(Config { feed, pools, clusters }) } else { Err(faults.0) }
}

/// Sums of weighted scores stay far from where a f64 loses the small ones.
const MAX_WEIGHT: f64 = 1e6;

#[derive(Default)]
struct Faults(Vec<Invalid>);

impl Faults {
    fn add(&mut self, path: impl Into<String>, value: impl std::fmt::Display, reason: impl Into<String>) {
        self.0.push(Invalid::new(path, value, reason));
    }

    /// The value, unless there are faults; those are kept.
    fn take<T>(&mut self, result: Result<T, Vec<Invalid>>, path: &str) -> Option<T> {
        result.map_err(|faults| self.0.extend(faults.into_iter().map(|fault| fault.within(path)))).ok()
    }
}

fn default_scorers() -> Vec<PluginEntry> {
    let entry = |kind: &str, weight: f64| {
        let entry = [("type".to_owned(), json!(kind)), ("weight".to_owned(), json!(weight))];
        PluginEntry(entry.into_iter().collect())
    };
    vec![
        entry(scorers::QueueScorer::TYPE, 2.0),
        entry(scorers::KvCacheUtilizationScorer::TYPE, 2.0),
        entry(scorers::RunningRequestsSizeScorer::TYPE, 1.0),
        entry(scorers::ActiveRequestScorer::TYPE, 1.0),
    ]
}

fn compile_pool(mut pool: raw::Pool, path: &str, faults: &mut Faults) -> Option<PoolSpec> {
    if pool.scorers.is_empty() {
        pool.scorers = default_scorers();
    }
    if pool.max_body_bytes == 0 {
        faults.add(format!("{path}.maxBodyBytes"), 0, "must be at least 1");
    }
    if let Some(header) = &pool.explain.response_header
        && !may_be_added(header)
    {
        let path = format!("{path}.explain.responseHeader");
        let reason =
            "must be a name of lower-case letters, digits and '-' that starts with \"x-\" and steers nothing";
        faults.add(path, format!("{header:?}"), reason);
    }
    let before = faults.0.len();
    let cx = BuildContext { max_age: &pool.max_age };
    let mut filters = Vec::new();
    for (index, entry) in pool.filters.into_iter().enumerate() {
        let path = format!("{path}.filters[{index}]");
        if let Some(made) = make(FILTERS, entry, None, &path, &cx, faults) {
            if made.weight.is_some() {
                faults.add(format!("{path}.weight"), "", "filters have no weight");
            }
            filters.push(NamedFilter { name: made.name, filter: made.plugin });
        }
    }
    let mut scorers = Vec::new();
    for (index, entry) in pool.scorers.into_iter().enumerate() {
        let path = format!("{path}.scorers[{index}]");
        let implied = entry.0.contains_key("attributeKey").then_some(scorers::EndpointAttributeScorer::TYPE);
        if let Some(made) = make(SCORERS, entry, implied, &path, &cx, faults) {
            scorers.push(NamedScorer {
                name: made.name,
                weight: made.weight.unwrap_or(1.0),
                scorer: made.plugin,
            });
        }
    }
    unique(filters.iter().map(|f| &f.name).chain(scorers.iter().map(|s| &s.name)), path, faults);
    let picker: Option<Box<dyn Picker>> = match pool.picker {
        None => Some(Box::new(pickers::MaxScorePicker::default())),
        Some(entry) => make(PICKERS, entry, None, &format!("{path}.picker"), &cx, faults).map(|made| {
            if made.weight.is_some() {
                faults.add(format!("{path}.picker.weight"), "", "a picker has no weight");
            }
            made.plugin
        }),
    };
    let profile = Profile { name: "default".to_owned(), filters, scorers, picker: picker? };
    (faults.0.len() == before).then_some(PoolSpec {
        name: pool.name,
        profile,
        on_no_data: pool.on_no_data,
        max_body_bytes: pool.max_body_bytes,
        explain: pool.explain,
    })
}

/// Whether a response may get a header of this name without changing what the response means.
fn may_be_added(header: &str) -> bool {
    let plain = header.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    plain && header.len() > 2 && header.starts_with("x-") && !CLIENT_MAY_NOT_SEND.contains(&header)
}

/// Names tell plugins apart in explanations.
fn unique<'a>(names: impl Iterator<Item = &'a String>, path: &str, faults: &mut Faults) {
    let mut seen: Vec<&String> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            faults.add(
                path,
                format!("{name:?}"),
                "two plugins of a pool have this name; give one of them a \"name\"",
            );
        }
        seen.push(name);
    }
}

struct Made<T: ?Sized> {
    name: String,
    weight: Option<f64>,
    plugin: Box<T>,
}

/// Makes the plugin of an entry; `implied` is its type when it gives none.
fn make<T: ?Sized>(
    entries: &[Entry<T>],
    PluginEntry(mut entry): PluginEntry,
    implied: Option<&str>,
    path: &str,
    cx: &BuildContext<'_>,
    faults: &mut Faults,
) -> Option<Made<T>> {
    let mut text = |key: &str, faults: &mut Faults| match entry.remove(key) {
        None => None,
        Some(Value::String(text)) => Some(text),
        Some(other) => {
            faults.add(format!("{path}.{key}"), other, "must be a string");
            None
        }
    };
    let name = text("name", faults);
    let Some(kind) = text("type", faults).or_else(|| implied.map(str::to_owned)) else {
        faults.add(format!("{path}.type"), "", "must name the plugin's type");
        return None;
    };
    let weight = match entry.remove("weight") {
        None => None,
        Some(value) => match value.as_f64() {
            Some(weight) if (0.0..=MAX_WEIGHT).contains(&weight) => Some(weight),
            _ => {
                faults.add(
                    format!("{path}.weight"),
                    value,
                    format!("must be a number from 0 to {MAX_WEIGHT}"),
                );
                None
            }
        },
    };
    let mut prefix = path.to_owned();
    match entry.remove("parameters") {
        None => {}
        Some(Value::Object(parameters)) if entry.is_empty() => {
            entry = parameters;
            prefix.push_str(".parameters");
        }
        Some(Value::Object(_)) => {
            faults.add(
                format!("{path}.parameters"),
                "",
                "give parameters here or beside the type, not in both places",
            );
        }
        Some(other) => faults.add(format!("{path}.parameters"), other, "must be an object"),
    }
    match registry::find(entries, &kind) {
        Err(reason) => {
            faults.add(format!("{path}.type"), format!("{kind:?}"), reason);
            None
        }
        Ok(found) => {
            let plugin = faults.take((found.build)(Value::Object(entry), cx), &prefix)?;
            Some(Made { name: name.unwrap_or(kind), weight, plugin })
        }
    }
}
