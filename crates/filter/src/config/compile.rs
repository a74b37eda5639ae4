//! From what was written to what can't be wrong.

use std::collections::BTreeMap;

use headroom_datalayer::Span;
use headroom_scheduling::Invalid;

use super::entry::Faults;
use super::{Config, FeedSpec, PoolSpec, profiles, raw};
use crate::headers::CLIENT_MAY_NOT_SEND;

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

fn compile_pool(mut pool: raw::Pool, path: &str, faults: &mut Faults) -> Option<PoolSpec> {
    let before = faults.0.len();
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
    let scheduler = profiles::scheduler(&mut pool, path, faults)?;
    let mut filters = scheduler.profiles.iter().flat_map(|profile| &profile.filters);
    let watches_failures = filters.any(|named| named.filter.watches_failures());
    (faults.0.len() == before).then(|| PoolSpec {
        name: pool.name,
        headers: scheduler.headers(),
        watches_failures,
        scheduler,
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
