//! What is remembered of an engine from one scrape to the next.

use std::collections::BTreeMap;

use headroom_datalayer::{Sample, Timestamp};

use super::{HitRate, frozen::Frozen, rate::Rate};

/// The counters of one endpoint's engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EngineMemory {
    hit_rates: BTreeMap<&'static str, HitRate>,
    rates: BTreeMap<String, Rate>,
    pub(super) frozen: Frozen,
}

impl EngineMemory {
    /// See [`HitRate::update`]; `counter` tells one pair of counters from another.
    pub(super) fn hit_rate(
        &mut self,
        counter: &'static str,
        hits: f64,
        queries: f64,
        at: Timestamp,
    ) -> Option<Sample> {
        self.hit_rates.entry(counter).or_default().update(hits, queries, at)
    }

    /// See [`Rate::update`]; `counter` tells one counter from another.
    pub(super) fn rate(&mut self, counter: &str, total: f64, at: Timestamp) -> Option<Sample> {
        if !self.rates.contains_key(counter) {
            self.rates.insert(counter.to_owned(), Rate::default());
        }
        self.rates.get_mut(counter)?.update(total, at)
    }
}
