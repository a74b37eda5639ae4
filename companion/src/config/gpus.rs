//! Which GPUs belong to an endpoint, and where they are listed.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Url;

use super::{ConfigErrors, error::quoted, raw};
use crate::join::{GpuSelector, PciBusId};

/// Compiles an `http` URL.
pub(super) fn compile_url(path: &str, text: &str, errors: &mut ConfigErrors) -> Option<Url> {
    let reason = match Url::parse(text) {
        Ok(url) if url.scheme() != "http" => "must be an http:// URL".to_owned(),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            "must not hold credentials".to_owned()
        }
        Ok(mut url) => {
            url.set_fragment(None);
            return Some(url);
        }
        Err(error) => format!("is no URL, for instance http://10.0.0.1:9400/metrics: {error}"),
    };
    errors.push(path, quoted(text), reason);
    None
}

/// Compiles an endpoint's GPUs: the exporter, and which of its GPUs.
pub(super) fn compile_gpus(
    path: &str,
    raw: raw::Gpus,
    errors: &mut ConfigErrors,
) -> Option<(Url, GpuSelector)> {
    let url = compile_url(&format!("{path}.exporter"), &raw.exporter, errors);
    let selectors: Vec<GpuSelector> = [
        raw.uuids.map(|uuids| compile_uuids(&format!("{path}.uuids"), uuids, errors)),
        raw.pci_bus_ids.map(|ids| compile_slots(&format!("{path}.pciBusIds"), &ids, errors)),
        raw.labels.map(|labels| compile_labels(&format!("{path}.labels"), labels, errors)),
        raw.host.filter(|host| *host).map(|_| GpuSelector::Host),
    ]
    .into_iter()
    .flatten()
    .collect();
    match <[GpuSelector; 1]>::try_from(selectors) {
        Ok([selector]) => url.map(|url| (url, selector)),
        Err(selectors) => {
            let count = selectors.len();
            errors.push(
                path,
                "",
                format!("give exactly one of uuids, pciBusIds, labels and host: true, not {count}"),
            );
            None
        }
    }
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
