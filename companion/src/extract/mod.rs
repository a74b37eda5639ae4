//! From samples to attributes: what each engine calls its metrics, and how series become one value.

mod combine;
mod engine;
mod hit_rate;
mod table;
mod vllm;

use std::collections::BTreeMap;

use headroom_datalayer::Sample;

pub(crate) use combine::{Cell, combine};
pub(crate) use engine::{EngineReading, extract_engine, measured_at};
pub(crate) use hit_rate::HitRate;
pub(crate) use table::{EngineTable, Range};

/// Attributes of one endpoint, by name.
pub(crate) type Facts = BTreeMap<&'static str, Sample>;

/// The engines that can be read.
pub(crate) const ENGINES: &[EngineTable] = &[vllm::TABLE];

/// The engine called `name` in a config.
pub(crate) fn engine(name: &str) -> Option<&'static EngineTable> {
    ENGINES.iter().find(|table| table.name == name)
}

#[cfg(test)]
mod tests;
