//! One pool: its state, and its latest changes for whoever is behind.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use headroom_datalayer::{Address, Endpoint, PoolState, Sample, Update};
use headroom_wire::{
    convert::{to_endpoint, to_sample},
    feed::{self, subscribe_response::Message},
};

use super::{Change, encoded::Encoded};

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
    pending: Pending,
    /// The latest deltas with their numbers.
    deltas: VecDeque<(u64, Encoded)>,
    /// The state as a message, if somebody asked for it since the latest delta.
    snapshot: Option<Encoded>,
}

#[derive(Debug, Default)]
struct Pending {
    upserted: BTreeMap<Address, Endpoint>,
    removed: BTreeSet<Address>,
    samples: BTreeMap<Address, BTreeMap<String, Option<Sample>>>,
}

/// What a subscriber gets next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    /// It knows everything.
    UpToDate,
    /// The whole pool and its number: it is new, or too far behind.
    Snapshot(u64, Encoded),
    /// The first change that it does not know, and its number.
    Delta(u64, Encoded),
}

impl PoolFeed {
    /// A pool of which no endpoint is known.
    pub(super) fn new(name: String, epoch: u64) -> Self {
        let (state, pending) = (PoolState::default(), Pending::default());
        Self { name, epoch, sequence: 1, state, pending, deltas: VecDeque::new(), snapshot: None }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn state(&self) -> &PoolState {
        &self.state
    }

    /// Notes which endpoints there are from now on. An endpoint that stays keeps its samples.
    pub(super) fn set_endpoints(&mut self, endpoints: Vec<Endpoint>) {
        let here: BTreeSet<&Address> = endpoints.iter().map(|endpoint| &endpoint.address).collect();
        let known = self.state.iter().map(|(endpoint, _)| &endpoint.address);
        let gone: Vec<Address> = known.filter(|address| !here.contains(address)).cloned().collect();
        self.pending.upserted.retain(|address, _| here.contains(address));
        self.pending.samples.retain(|address, _| here.contains(address));
        self.pending.removed.extend(gone);
        for endpoint in endpoints {
            self.pending.upserted.insert(endpoint.address.clone(), endpoint);
        }
        let is_known = |endpoint: &Endpoint| self.state.endpoint(&endpoint.address) == Some(endpoint);
        let removed = &self.pending.removed;
        self.pending.upserted.retain(|address, endpoint| removed.contains(address) || !is_known(endpoint));
    }

    /// Notes changed samples for the next delta; of several changes of one value the last counts. Samples of
    /// endpoints that are not in the pool are dropped: a late value must not bring back who has left.
    pub(super) fn submit(&mut self, changes: Vec<Change>) {
        for (address, attribute, sample) in changes {
            let is_here = self.pending.upserted.contains_key(&address)
                || (self.state.endpoint(&address).is_some() && !self.pending.removed.contains(&address));
            if is_here {
                self.pending.samples.entry(address).or_default().insert(attribute, sample);
            }
        }
    }

    /// Makes a delta of what was noted. False when there was nothing.
    pub(super) fn flush(&mut self) -> bool {
        let Pending { upserted, removed, samples } = std::mem::take(&mut self.pending);
        if upserted.is_empty() && removed.is_empty() && samples.is_empty() {
            return false;
        }
        self.sequence += 1;
        let delta = feed::Delta {
            pool: self.name.clone(),
            epoch: self.epoch,
            sequence: self.sequence,
            upserted: upserted.values().map(|endpoint| to_endpoint(endpoint, &BTreeMap::new())).collect(),
            removed: removed.iter().map(ToString::to_string).collect(),
            samples: samples.iter().map(|(address, samples)| endpoint_samples(address, samples)).collect(),
        };
        let samples = samples.into_iter().flat_map(|(address, samples)| {
            samples.into_iter().map(move |(attribute, sample)| (address.clone(), attribute, sample))
        });
        self.state.apply(Update {
            upserted: upserted.into_values().collect(),
            removed: removed.into_iter().collect(),
            samples: samples.collect(),
        });
        if self.deltas.len() == KEPT_DELTAS {
            self.deltas.pop_front();
        }
        self.deltas.push_back((self.sequence, Encoded::new(Message::Delta(delta))));
        self.snapshot = None;
        true
    }

    /// What comes after the message number `cursor`; `None` for a subscriber that has nothing yet.
    pub(super) fn after(&mut self, cursor: Option<u64>) -> Next {
        let Some(cursor) = cursor else { return self.snapshot() };
        if cursor == self.sequence {
            return Next::UpToDate;
        }
        match self.deltas.iter().find(|(sequence, _)| Some(*sequence) == cursor.checked_add(1)) {
            Some((sequence, delta)) => Next::Delta(*sequence, delta.clone()),
            None => self.snapshot(),
        }
    }

    fn snapshot(&mut self) -> Next {
        let known = self.snapshot.take().unwrap_or_else(|| Encoded::new(Message::Snapshot(self.whole())));
        Next::Snapshot(self.sequence, self.snapshot.insert(known).clone())
    }

    fn whole(&self) -> feed::Snapshot {
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
