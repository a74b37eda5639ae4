//! A pool: its sources, and what holds for its endpoints.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
    time::Duration,
};

use headroom_datalayer::{Address, well_known};

use super::{
    ConfigErrors, Pool,
    endpoint::{Defaults, compile_endpoint},
    error::quoted,
    raw,
    timing::{Reaches, warn_if_too_seldom},
};
use crate::discovery::{FileSpec, Member, Source, SourceSpec};

/// Compiles a pool.
pub(super) fn compile_pool(
    path: &str,
    raw: raw::Pool,
    reaches: &Reaches,
    errors: &mut ConfigErrors,
    warnings: &mut Vec<String>,
) -> Pool {
    if raw.name.is_empty() || raw.name.chars().count() > 253 || raw.name.contains(['/', ',']) {
        let reason = "give the pool a name of 1 to 253 characters without '/' and ',', which Envoy's plugin does not take";
        errors.push(&format!("{path}.name"), quoted(&raw.name), reason);
    }
    let defaults = Defaults::compile(&format!("{path}.defaults"), &raw.defaults, reaches, errors);
    let members = compile_static(path, raw.endpoints, &defaults, errors);
    let engine_interval = slowest(&members, false, defaults.engine_interval());
    let exporter_interval = slowest(&members, true, defaults.exporter_interval());
    for (interval, global, attribute) in [
        (engine_interval, reaches.engine.pace.interval, well_known::WAITING_QUEUE_SIZE),
        (exporter_interval, reaches.exporter.pace.interval, well_known::GPU_UTILIZATION),
    ] {
        if interval != global {
            warn_if_too_seldom(
                &format!("{path}: the longest scrape interval"),
                interval,
                attribute,
                warnings,
            );
        }
    }
    let mut sources = vec![SourceSpec::Static(members)];
    if let Some(file) = raw.file {
        if file.path.is_empty() {
            errors.push(&format!("{path}.file.path"), quoted(""), "name the file");
        }
        sources.push(SourceSpec::File(FileSpec { path: file.path.into(), defaults: Arc::new(defaults) }));
    }
    Pool { name: raw.name, sources, engine_interval, exporter_interval }
}

/// The longest time between two scrapes of a model server or a GPU exporter.
fn slowest(members: &[Member], exporters: bool, default: Duration) -> Duration {
    let readings = members.iter().flat_map(|member| &member.readings);
    let wanted = readings.filter(|reading| matches!(reading.source, Source::Gpus(_)) == exporters);
    wanted.map(|reading| reading.pace.interval).max().unwrap_or(default)
}

fn compile_static(
    path: &str,
    raw: Vec<raw::Endpoint>,
    defaults: &Defaults,
    errors: &mut ConfigErrors,
) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    let mut first_use: BTreeMap<Address, usize> = BTreeMap::new();
    for (number, endpoint) in raw.into_iter().enumerate() {
        let path = format!("{path}.endpoints[{number}]");
        let Some(member) = compile_endpoint(&path, endpoint, defaults, errors) else { continue };
        match first_use.entry(member.endpoint.address.clone()) {
            Entry::Occupied(first) => {
                let reason = format!("endpoints[{}] of this pool has the same address", first.get());
                errors.push(&format!("{path}.address"), quoted(member.endpoint.address.as_str()), reason);
            }
            Entry::Vacant(free) => {
                free.insert(number);
                members.push(member);
            }
        }
    }
    members
}
