//! What is known of each target, for people.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use headroom_datalayer::Timestamp;

use super::plan::Plan;
use crate::join::Unmatched;

/// Which target: no two in the life of the process have the same.
pub(crate) type TargetId = u64;

/// All targets that are scraped now.
#[derive(Debug)]
pub(crate) struct Targets {
    /// The pools' names, in the config's order.
    pools: Vec<String>,
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    next: TargetId,
    targets: BTreeMap<TargetId, Target>,
}

#[derive(Debug)]
struct Target {
    url: String,
    endpoints: Vec<String>,
    state: State,
}

/// One target's state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// Whether the last scrape was of use.
    pub(crate) health: Health,
    /// When the last scrape that was of use was sent.
    pub(crate) last_success: Option<Timestamp>,
    /// What was wrong the last time that something was.
    pub(crate) last_error: Option<String>,
    /// How long the last scrape took.
    pub(crate) last_duration: Option<Duration>,
    /// Failures since the last success.
    pub(crate) failures: u32,
    /// Scrapes so far.
    pub(crate) scrapes: u64,
    /// Lines of the last scrape that could not be read.
    pub(crate) parse_errors: usize,
    /// What the last scrape held that could not be used, and why.
    pub(crate) notes: Vec<String>,
    /// GPUs in the last scrape that belong to no endpoint.
    pub(crate) unmatched_gpus: Option<Unmatched>,
    /// What the last scrape is of: an engine, or an exporter.
    pub(crate) kind: Option<&'static str>,
}

/// Whether a target is of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Health {
    /// Not scraped yet.
    #[default]
    Untried,
    /// The last scrape gave values.
    Good,
    /// The last scrape failed, or held nothing that is known.
    Bad,
}

impl Targets {
    /// No target yet. `pools` are the pools' names, in the config's order.
    pub(crate) fn new(pools: Vec<String>) -> Self {
        Self { pools, all: Mutex::default() }
    }

    /// Adds a target that was not scraped yet.
    pub(super) fn add(&self, url: &str, plan: &Plan) -> TargetId {
        let target = Target { url: url.to_owned(), endpoints: self.endpoints(plan), state: State::default() };
        let mut all = self.lock();
        all.next += 1;
        let id = all.next;
        all.targets.insert(id, target);
        id
    }

    /// Notes for which endpoints a target is scraped now.
    pub(super) fn consumers(&self, id: TargetId, plan: &Plan) {
        let endpoints = self.endpoints(plan);
        if let Some(target) = self.lock().targets.get_mut(&id) {
            target.endpoints = endpoints;
        }
    }

    /// Forgets a target.
    pub(super) fn remove(&self, id: TargetId) {
        self.lock().targets.remove(&id);
    }

    /// Reads each target's URL, endpoints and state, ordered by URL.
    pub(crate) fn for_each(&self, mut read: impl FnMut(&str, &[String], &State)) {
        let all = self.lock();
        let mut targets: Vec<&Target> = all.targets.values().collect();
        targets.sort_by(|a, b| a.url.cmp(&b.url));
        for target in targets {
            read(&target.url, &target.endpoints, &target.state);
        }
    }

    /// Whether the target is there and was not scraped yet.
    pub(super) fn is_untried(&self, id: TargetId) -> bool {
        self.lock().targets.get(&id).is_some_and(|target| target.state.health == Health::Untried)
    }

    /// The URLs that were not scraped yet.
    pub(crate) fn untried(&self) -> Vec<String> {
        let mut untried = Vec::new();
        self.for_each(|url, _, state| {
            if state.health == Health::Untried {
                untried.push(url.to_owned());
            }
        });
        untried
    }

    pub(super) fn update<R>(&self, id: TargetId, change: impl FnOnce(&mut State) -> R) -> Option<R> {
        self.lock().targets.get_mut(&id).map(|target| change(&mut target.state))
    }

    /// `pool/address` of the endpoints that a target tells something about.
    fn endpoints(&self, plan: &Plan) -> Vec<String> {
        let mut endpoints: Vec<String> = plan
            .consumers
            .iter()
            .map(|consumer| {
                let pool = self.pools.get(consumer.pool).map(String::as_str).unwrap_or_default();
                format!("{pool}/{}", consumer.address)
            })
            .collect();
        endpoints.dedup();
        endpoints
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
