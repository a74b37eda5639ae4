//! What is known of each target, for people.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use headroom_datalayer::Timestamp;

/// All targets, in the config's order.
#[derive(Debug)]
pub(crate) struct Targets(Vec<Target>);

#[derive(Debug)]
struct Target {
    url: String,
    endpoints: Vec<String>,
    state: Mutex<State>,
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
    pub(crate) unmatched_gpus: Option<usize>,
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
    pub(crate) fn new(targets: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let target = |(url, endpoints)| Target { url, endpoints, state: Mutex::default() };
        Self(targets.into_iter().map(target).collect())
    }

    /// Reads each target's URL, endpoints and state.
    pub(crate) fn for_each(&self, mut read: impl FnMut(&str, &[String], &State)) {
        for target in &self.0 {
            read(&target.url, &target.endpoints, &lock(&target.state));
        }
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

    pub(super) fn update<R>(&self, target: usize, change: impl FnOnce(&mut State) -> R) -> Option<R> {
        self.0.get(target).map(|target| change(&mut lock(&target.state)))
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
