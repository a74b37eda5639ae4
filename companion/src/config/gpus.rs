//! Which GPUs belong to an endpoint, and where they are listed.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    ConfigErrors,
    error::quoted,
    raw,
    reach::{Reach, compile_url},
    timing::{Reaches, refresh},
};
use crate::{
    discovery::{At, Fetch, GpuJoin, GpuTemplate},
    join::{Card, GpuSelector, PciBusId},
};

/// Compiles where the GPUs of a pool's endpoints are.
pub(super) fn compile_default_gpus(
    path: &str,
    raw: &raw::DefaultGpus,
    reaches: &Reaches,
    errors: &mut ConfigErrors,
) -> Option<GpuTemplate> {
    let Reach { access, pace } = reaches.exporter.with(&format!("{path}.scrape"), &raw.scrape, errors);
    let refresh =
        refresh(&format!("{path}.refresh"), raw.refresh.as_deref(), errors).unwrap_or(reaches.refresh);
    let at = match &raw.exporter {
        Some(url) => At::Url(compile_url(&format!("{path}.exporter"), url, errors)?),
        None => compile_at(&format!("{path}.at"), &raw.at, errors)?,
    };
    let join = match raw.by.as_deref() {
        None | Some("pod") => GpuJoin::Pod,
        Some("host") => GpuJoin::Selected(GpuSelector::Host),
        Some(other) => {
            errors.push(&format!("{path}.by"), quoted(other), "must be pod or host");
            return None;
        }
    };
    Some(GpuTemplate { exporter: Fetch { at, access, pace }, join, refresh })
}

/// Compiles a place on a host.
pub(super) fn compile_at(path: &str, raw: &raw::At, errors: &mut ConfigErrors) -> Option<At> {
    let scheme = match raw.scheme.as_deref() {
        None | Some("http") => "http",
        Some("https") => "https",
        Some(other) => {
            errors.push(&format!("{path}.scheme"), quoted(other), "must be http or https");
            return None;
        }
    };
    if raw.port == Some(0) {
        errors.push(&format!("{path}.port"), 0, "must be from 1 to 65535");
    }
    let metrics = raw.path.as_deref().unwrap_or("/metrics");
    if !metrics.starts_with('/') {
        errors.push(&format!("{path}.path"), quoted(metrics), "must start with a slash");
    }
    Some(At::Host { scheme, port: raw.port, path: metrics.to_owned() })
}

/// Compiles an endpoint's GPUs: the exporter, and which of its GPUs.
pub(super) fn compile_gpus(
    path: &str,
    raw: raw::Gpus,
    above: &Reach,
    refresh: Duration,
    errors: &mut ConfigErrors,
) -> Option<GpuTemplate> {
    let url = compile_url(&format!("{path}.exporter"), &raw.exporter, errors);
    let Reach { access, pace } = above.with(&format!("{path}.scrape"), &raw.scrape, errors);
    let selectors: Vec<GpuSelector> = [
        raw.uuids.map(|uuids| compile_uuids(&format!("{path}.uuids"), uuids, errors)),
        raw.pci_bus_ids.map(|ids| compile_slots(&format!("{path}.pciBusIds"), &ids, errors)),
        raw.mig.map(|slices| compile_mig(&format!("{path}.mig"), &slices, errors)),
        raw.labels.map(|labels| compile_labels(&format!("{path}.labels"), labels, errors)),
        raw.host.and_then(|host| compile_host(&format!("{path}.host"), host, errors)),
    ]
    .into_iter()
    .flatten()
    .collect();
    match <[GpuSelector; 1]>::try_from(selectors) {
        Ok([selector]) => {
            let exporter = Fetch { at: At::Url(url?), access, pace };
            Some(GpuTemplate { exporter, join: GpuJoin::Selected(selector), refresh })
        }
        Err(selectors) => {
            let count = selectors.len();
            errors.push(
                path,
                "",
                format!("give exactly one of uuids, pciBusIds, mig, labels and host, not {count}"),
            );
            None
        }
    }
}

fn compile_host(path: &str, host: raw::Host, errors: &mut ConfigErrors) -> Option<GpuSelector> {
    match host {
        raw::Host::All(all) => all.then_some(GpuSelector::Host),
        raw::Host::Named(name) => {
            if name.is_empty() {
                errors.push(path, quoted(""), "is no host's name; true takes every GPU of the exporter");
            }
            Some(GpuSelector::HostNamed(name))
        }
    }
}

fn compile_mig(path: &str, slices: &[raw::Mig], errors: &mut ConfigErrors) -> GpuSelector {
    not_empty(path, slices.len(), errors);
    let mut set = BTreeSet::new();
    for (index, raw::Mig { gpu, instance }) in slices.iter().enumerate() {
        if gpu.is_empty() {
            let reason = "is neither a GPU's UUID nor a PCI bus id";
            errors.push(&format!("{path}[{index}].gpu"), quoted(gpu), reason);
        }
        set.insert((Card::parse(gpu), *instance));
    }
    GpuSelector::Mig(set)
}

fn compile_uuids(path: &str, uuids: Vec<String>, errors: &mut ConfigErrors) -> GpuSelector {
    not_empty(path, uuids.len(), errors);
    let mut set = BTreeSet::new();
    for (index, uuid) in uuids.into_iter().enumerate() {
        if uuid.is_empty() {
            errors.push(&format!("{path}[{index}]"), quoted(""), "is no GPU UUID");
        }
        set.insert(uuid.to_ascii_lowercase());
    }
    GpuSelector::Uuids(set)
}

fn compile_slots(path: &str, ids: &[String], errors: &mut ConfigErrors) -> GpuSelector {
    not_empty(path, ids.len(), errors);
    let mut set = BTreeSet::new();
    for (index, text) in ids.iter().enumerate() {
        match PciBusId::parse(text) {
            Some(id) => {
                set.insert(id);
            }
            None => {
                let reason = "is no PCI bus id, for instance 0000:1b:00.0";
                errors.push(&format!("{path}[{index}]"), quoted(text), reason);
            }
        }
    }
    GpuSelector::PciBusIds(set)
}

fn compile_labels(path: &str, labels: BTreeMap<String, String>, errors: &mut ConfigErrors) -> GpuSelector {
    not_empty(path, labels.len(), errors);
    GpuSelector::Labels(labels)
}

fn not_empty(path: &str, len: usize, errors: &mut ConfigErrors) {
    if len == 0 {
        errors.push(path, "", "is empty, so no GPU would match");
    }
}
