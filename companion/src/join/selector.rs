//! How an endpoint names its GPUs.

use std::collections::{BTreeMap, BTreeSet};

use headroom_exposition::Label;

use super::dcgm::SLICE_LABEL;

/// Which GPUs of a scrape are an endpoint's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GpuSelector {
    /// Those with one of these UUIDs, in lower case.
    Uuids(BTreeSet<String>),
    /// Those in one of these slots.
    PciBusIds(BTreeSet<PciBusId>),
    /// These MIG slices: the card, and the GPU instance id.
    Mig(BTreeSet<(Card, u32)>),
    /// Those whose samples carry all of these labels.
    Labels(BTreeMap<String, String>),
    /// All of them.
    Host,
    /// Those of the host with this name.
    HostNamed(String),
}

/// A card, by what is printed of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Card {
    /// Its UUID, in lower case.
    Uuid(String),
    /// Its slot.
    Slot(PciBusId),
}

impl Card {
    /// A card as a config names it.
    pub(crate) fn parse(text: &str) -> Self {
        PciBusId::parse(text).map_or_else(|| Self::Uuid(text.to_ascii_lowercase()), Self::Slot)
    }

    fn is(&self, labels: &[Label<'_>]) -> bool {
        match self {
            Self::Uuid(wanted) => uuid(labels).is_some_and(|uuid| uuid.eq_ignore_ascii_case(wanted)),
            Self::Slot(wanted) => pci_bus_id(labels).is_some_and(|slot| slot == *wanted),
        }
    }
}

impl GpuSelector {
    /// The GPUs of a pod.
    pub(crate) fn pod(name: &str, namespace: &str) -> Self {
        let labels = [("namespace", namespace), ("pod", name)];
        Self::Labels(labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    /// Whether a sample with these labels is of one of the GPUs.
    pub(super) fn matches(&self, labels: &[Label<'_>]) -> bool {
        match self {
            Self::Uuids(uuids) => uuid(labels).is_some_and(|uuid| uuids.contains(&uuid.to_ascii_lowercase())),
            Self::PciBusIds(ids) => pci_bus_id(labels).is_some_and(|id| ids.contains(&id)),
            Self::Labels(wanted) => {
                !wanted.is_empty()
                    && wanted
                        .iter()
                        .all(|(name, value)| !value.is_empty() && owner_label(labels, name) == Some(value))
            }
            Self::Mig(slices) => slices.iter().any(|(card, instance)| {
                slice(labels).is_some_and(|id| id.parse() == Ok(*instance)) && card.is(labels)
            }),
            Self::Host => true,
            Self::HostNamed(host) => hostname(labels) == Some(host),
        }
    }

    /// Whether a GPU that the exporter lists is certain to be found: its UUID and slot are always
    /// there, while exporters lose pod labels for a scrape now and then.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self, Self::Labels(_))
    }
}

/// The value of a label.
pub(super) fn label<'l>(labels: &'l [Label<'_>], name: &str) -> Option<&'l str> {
    labels.iter().find(|label| label.name == name).map(|label| label.value.as_ref())
}

/// The value of a label as the exporter wrote it: read back through a Prometheus server, the
/// exporter's own `pod` is in `exported_pod`, and `pod` is the pod that the exporter runs in.
fn owner_label<'l>(labels: &'l [Label<'_>], name: &str) -> Option<&'l str> {
    let exported = labels.iter().find(|label| label.name.strip_prefix("exported_") == Some(name));
    exported.map(|label| label.value.as_ref()).or_else(|| label(labels, name))
}

/// The GPU's UUID.
pub(super) fn uuid<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    label(labels, "UUID").or_else(|| label(labels, "uuid")).filter(|uuid| !uuid.is_empty())
}

/// The MIG slice's GPU instance id.
pub(super) fn slice<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    label(labels, SLICE_LABEL).filter(|slice| !slice.is_empty())
}

/// The host that the GPU is in.
pub(super) fn hostname<'l>(labels: &'l [Label<'_>]) -> Option<&'l str> {
    label(labels, "Hostname").or_else(|| label(labels, "hostname")).filter(|name| !name.is_empty())
}

/// The GPU's slot.
pub(super) fn pci_bus_id(labels: &[Label<'_>]) -> Option<PciBusId> {
    label(labels, "pci_bus_id").and_then(PciBusId::parse)
}

/// A slot on the PCI bus: `domain:bus:device.function`, all hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PciBusId {
    domain: u32,
    bus: u8,
    device: u8,
    function: u8,
}

impl PciBusId {
    /// Reads `00000000:1B:00.0`, `0000:1b:00.0` or `1b:00.0`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (front, function) = text.rsplit_once('.')?;
        let (front, device) = front.rsplit_once(':')?;
        let (domain, bus) = front.rsplit_once(':').unwrap_or(("0", front));
        let hex = |text: &str, digits: usize| {
            let plain =
                !text.is_empty() && text.len() <= digits && text.bytes().all(|b| b.is_ascii_hexdigit());
            plain.then(|| u32::from_str_radix(text, 16).ok()).flatten()
        };
        let byte = |text: &str, digits| hex(text, digits).and_then(|number| u8::try_from(number).ok());
        Some(Self {
            domain: hex(domain, 8)?,
            bus: byte(bus, 2)?,
            device: byte(device, 2)?,
            function: byte(function, 1)?,
        })
    }
}
