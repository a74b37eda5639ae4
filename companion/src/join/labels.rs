//! What exporters call the labels of their samples.

use headroom_exposition::Label;

use super::PciBusId;

/// The label that tells MIG slices of one card apart.
const SLICE: &str = "GPU_I_ID";

/// What other exporters, and other versions, call a label that a selector may name.
const SYNONYMS: &[(&str, &str)] = &[
    ("pod", "pod_name"),
    ("namespace", "pod_namespace"),
    ("container", "container_name"),
    ("hpc_job", "job_id"),
];

/// The value of a label, unless it is empty.
pub(super) fn label<'l>(labels: &'l [Label<'_>], name: &str) -> Option<&'l str> {
    let found = labels.iter().find(|label| label.name == name).map(|label| label.value.as_ref());
    found.filter(|value| !value.is_empty())
}

fn first<'l>(labels: &'l [Label<'_>], names: &[&str]) -> Option<&'l str> {
    names.iter().find_map(|name| label(labels, name))
}

/// The value of a label that says whose the GPU is, as the exporter wrote it. Read back through a Prometheus server,
/// the exporter's own `pod` is in `exported_pod`, and `pod` is the pod that the exporter runs in.
pub(super) fn owner<'l>(labels: &'l [Label<'_>], name: &str) -> Option<&'l str> {
    let plain = || label(labels, name);
    let synonym =
        || SYNONYMS.iter().find(|(known, _)| *known == name).and_then(|(_, other)| label(labels, other));
    match labels.iter().find(|label| label.name.strip_prefix("exported_") == Some(name)) {
        Some(exported) => Some(exported.value.as_ref()).filter(|value| !value.is_empty()),
        None => plain().or_else(synonym),
    }
}

/// Whether the labels name anybody whose the GPU is.
pub(super) fn has_owner(labels: &[Label<'_>]) -> bool {
    ["pod", "hpc_job", "dra_claim_name", "container"].iter().any(|name| owner(labels, name).is_some())
}

/// The GPU's UUID.
pub(super) fn uuid<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    first(labels, &["UUID", "uuid", "gpu_uuid"])
}

/// The GPU's number on its host. It is no identity: another boot may give another.
pub(super) fn index<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    first(labels, &["gpu", "gpu_id"])
}

/// The host that the GPU is in.
pub(super) fn hostname<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    first(labels, &["Hostname", "hostname"])
}

/// The MIG slice's GPU instance id.
pub(super) fn slice<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    label(labels, SLICE)
}

/// The number of the AMD partition.
pub(super) fn partition<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    label(labels, "gpu_partition_id")
}

/// The GPU's slot.
pub(super) fn pci_bus_id(labels: &[Label<'_>]) -> Option<PciBusId> {
    first(labels, &["pci_bus_id", "pcie_bus_id"]).and_then(PciBusId::parse)
}
