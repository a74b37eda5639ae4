//! One pool: its state, and its latest changes for whoever is behind.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use headroom_datalayer::{Address, Endpoint, PoolState, Sample, Update};
use headroom_wire::{
    convert::{to_endpoint, to_sample},
    feed,
};

use super::Change;

/// How many deltas are kept for subscribers that are behind; who is behind by more gets a snapshot.
const KEPT_DELTAS: usize = 64;

/// A pool as the feed tells it.
#[derive(Debug)]
pub(super) struct PoolFeed {
    name: String,
    epoch: u64,
    /// The number of the latest delta; a snapshot carries the number of the delta it includes.
    sequence: u64,
    state: PoolState,
    /// What changed since the latest delta.
    pending: BTreeMap<Address, BTreeMap<String, Option<Sample>>>,
    deltas: VecDeque<Arc<feed::Delta>>,
}

/// What a subscriber gets next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    /// It knows everything.
    UpToDate,
    /// The whole pool: it is new, or too far behind.
    Snapshot(feed::Snapshot),
    /// The first change that it does not know.
    Delta(Arc<feed::Delta>),
}

impl PoolFeed {
    pub(super) fn new(name: String, epoch: u64, endpoints: Vec<Endpoint>) -> Self {
        let mut state = PoolState::default();
        state.apply(Update { upserted: endpoints, ..Update::default() });
        Self { name, epoch, sequence: 1, state, pending: BTreeMap::new(), deltas: VecDeque::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn state(&self) -> &PoolState {
        &self.state
    }

    /// Notes changed samples for the next delta; of several changes of one value the last counts.
    pub(super) fn submit(&mut self, changes: Vec<Change>) {
        for (address, attribute, sample) in changes {
            self.pending.entry(address).or_default().insert(attribute, sample);
        }
    }

    /// Makes a delta of what was noted. False when there was nothing.
    pub(super) fn flush(&mut self) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let pending = std::mem::take(&mut self.pending);
        self.sequence += 1;
        let delta = feed::Delta {
            pool: self.name.clone(),
            epoch: self.epoch,
            sequence: self.sequence,
            samples: pending.iter().map(|(address, samples)| endpoint_samples(address, samples)).collect(),
            ..feed::Delta::default()
        };
        let samples = pending.into_iter().flat_map(|(address, samples)| {
            samples.into_iter().map(move |(attribute, sample)| (address.clone(), attribute, sample))
        });
        self.state.apply(Update { samples: samples.collect(), ..Update::default() });
        if self.deltas.len() == KEPT_DELTAS {
            self.deltas.pop_front();
        }
        self.deltas.push_back(Arc::new(delta));
        true
    }

    /// What comes after the message number `cursor`; `None` for a subscriber that has nothing yet.
    pub(super) fn after(&self, cursor: Option<u64>) -> Next {
        let Some(cursor) = cursor else { return Next::Snapshot(self.snapshot()) };
        if cursor == self.sequence {
            return Next::UpToDate;
        }
        match self.deltas.iter().find(|delta| Some(delta.sequence) == cursor.checked_add(1)) {
            Some(delta) => Next::Delta(Arc::clone(delta)),
            None => Next::Snapshot(self.snapshot()),
        }
    }

    fn snapshot(&self) -> feed::Snapshot {
        feed::Snapshot {
            pool: self.name.clone(),
            epoch: self.epoch,
            sequence: self.sequence,
            endpoints: self.state.iter().map(|(endpoint, samples)| to_endpoint(endpoint, samples)).collect(),
        }
    }
}

fn endpoint_samples(address: &Address, samples: &BTreeMap<String, Option<Sample>>) -> feed::EndpointSamples {
    let mut message =
        feed::EndpointSamples { address: address.to_string(), ..feed::EndpointSamples::default() };
    for (attribute, sample) in samples {
        match sample {
            Some(sample) => message.samples.push(to_sample(attribute, sample)),
            None => message.cleared.push(attribute.clone()),
        }
    }
    message
}
