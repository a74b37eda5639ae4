//! How an endpoint names its GPUs.

use std::collections::{BTreeMap, BTreeSet};

use headroom_exposition::Label;

use super::{
    PciBusId,
    labels::{hostname, owner, pci_bus_id, slice, uuid},
};

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
                        .all(|(name, value)| !value.is_empty() && owner(labels, name) == Some(value))
            }
            Self::Mig(slices) => slices.iter().any(|(card, instance)| {
                slice(labels).is_some_and(|id| id.parse() == Ok(*instance)) && card.is(labels)
            }),
            Self::Host => true,
            Self::HostNamed(host) => hostname(labels) == Some(host),
        }
    }

    /// How many cards or slices the selector names one by one.
    pub(super) fn named(&self) -> usize {
        match self {
            Self::Uuids(uuids) => uuids.len(),
            Self::PciBusIds(ids) => ids.len(),
            Self::Mig(slices) => slices.len(),
            Self::Labels(_) | Self::Host | Self::HostNamed(_) => 0,
        }
    }

    /// Whether a GPU that the exporter lists is certain to be found: its UUID and slot are always
    /// there, while exporters lose pod labels for a scrape now and then.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self, Self::Labels(_))
    }
}
