//! Merges what the sources say, and keeps the feed and the scrapes in step.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::{Arc, Mutex, PoisonError},
};

use headroom_datalayer::{Address, Endpoint};
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};

use super::{Listing, Member, Outlet, SourceSpec};
use crate::{publish::Hub, scrape::Fleet};

/// The sources of one pool, for the coordinator.
#[derive(Debug)]
pub(crate) struct PoolSources {
    /// The pool's name.
    pub(crate) pool: String,
    /// Its sources; where two list the same address, the earlier one counts.
    pub(crate) sources: Vec<SourceSpec>,
}

/// What is known of a source, for people.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceState {
    /// The pool.
    pub(crate) pool: String,
    /// What people call the source.
    pub(crate) source: String,
    /// How many endpoints it lists; `None` while it could not be asked yet.
    pub(crate) endpoints: Option<usize>,
    /// What is wrong with it.
    pub(crate) problems: Vec<String>,
}

/// What is known of each source.
#[derive(Debug, Default)]
pub(crate) struct Sources(Mutex<Vec<SourceState>>);

impl Sources {
    /// What is known of each source now, in the config's order.
    pub(crate) fn states(&self) -> Vec<SourceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, states: Vec<SourceState>) -> Vec<SourceState> {
        std::mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), states)
    }
}

#[derive(Debug)]
struct Pool {
    name: String,
    sources: Vec<(String, watch::Receiver<Listing>)>,
    members: Vec<Member>,
    /// Which life of an address this is: an endpoint that comes back is a new one.
    lives: BTreeMap<Address, u64>,
}

/// The task that turns listings into endpoints that are served and scraped.
#[derive(Debug)]
pub(crate) struct Coordinator {
    pools: Vec<Pool>,
    next_life: u64,
    changed: Arc<Notify>,
    hub: Arc<Hub>,
    fleet: Fleet,
    states: Arc<Sources>,
    sources: JoinSet<()>,
}

impl Coordinator {
    /// Starts the sources. The pools are those of the hub, in the same order.
    pub(crate) fn start(pools: Vec<PoolSources>, hub: Arc<Hub>, fleet: Fleet, states: Arc<Sources>) -> Self {
        let changed = Arc::new(Notify::new());
        let mut sources = JoinSet::new();
        let pools = pools
            .into_iter()
            .map(|PoolSources { pool, sources: specs }| {
                let start = |spec: SourceSpec| {
                    let (outlet, listing) = Outlet::new(Arc::clone(&changed));
                    let name = spec.name();
                    sources.spawn(spec.run(outlet));
                    (name, listing)
                };
                let sources = specs.into_iter().map(start).collect();
                Pool { name: pool, sources, members: Vec::new(), lives: BTreeMap::new() }
            })
            .collect();
        Self { pools, next_life: 0, changed, hub, fleet, states, sources }
    }

    /// Follows the sources. Ends only when one of the scrape loops or sources panicked.
    pub(crate) async fn run(mut self) {
        // A pool without any source is known to be empty.
        self.follow();
        loop {
            tokio::select! {
                () = self.changed.notified() => self.follow(),
                () = self.fleet.broken() => return,
                Some(ended) = self.sources.join_next() => {
                    if ended.is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn follow(&mut self) {
        let (mut states, mut listed) = (Vec::new(), Vec::new());
        for (index, pool) in self.pools.iter_mut().enumerate() {
            let (members, all_known) = pool.merge(&mut states);
            let is_news = pool.members != members;
            if is_news {
                pool.begin_lives(&members, &mut self.next_life);
                let endpoints: Vec<Endpoint> = members.iter().map(|member| member.endpoint.clone()).collect();
                self.hub.set_endpoints(index, endpoints);
                pool.members = members;
            }
            if all_known {
                listed.push(index);
            }
        }
        log_changes(&self.states.replace(states.clone()), &states);
        let consumers = self.pools.iter().enumerate().flat_map(|(index, pool)| {
            let life = |address| pool.lives.get(address).copied().unwrap_or_default();
            pool.members.iter().map(move |member| (index, life(&member.endpoint.address), member))
        });
        self.fleet.follow(consumers);
        for index in 0..self.pools.len() {
            self.hub.await_targets(index, self.fleet.untried(index));
        }
        for index in listed {
            self.hub.listed(index);
        }
    }
}

impl Pool {
    /// The pool's endpoints, and whether every source could be asked.
    fn merge(&mut self, states: &mut Vec<SourceState>) -> (Vec<Member>, bool) {
        let mut merged: Vec<Member> = Vec::new();
        let mut listed_by: BTreeMap<Address, usize> = BTreeMap::new();
        let mut all_known = true;
        for (number, (source, listing)) in self.sources.iter_mut().enumerate() {
            let Listing { members, mut problems } = listing.borrow_and_update().clone();
            all_known &= members.is_some();
            let endpoints = members.as_ref().map(Vec::len);
            for member in members.into_iter().flatten() {
                match listed_by.entry(member.endpoint.address.clone()) {
                    Entry::Occupied(first) if *first.get() == number => {
                        problems.push(format!("{} is listed twice; the first counts", first.key()));
                    }
                    Entry::Occupied(first) => {
                        problems.push(format!(
                            "{} is listed by an earlier source too, which counts",
                            first.key()
                        ));
                    }
                    Entry::Vacant(free) => {
                        free.insert(number);
                        merged.push(member);
                    }
                }
            }
            states.push(SourceState { pool: self.name.clone(), source: source.clone(), endpoints, problems });
        }
        (merged, all_known)
    }

    fn begin_lives(&mut self, members: &[Member], next: &mut u64) {
        let here: BTreeSet<&Address> = members.iter().map(|member| &member.endpoint.address).collect();
        self.lives.retain(|address, _| here.contains(address));
        for address in here {
            self.lives.entry(address.clone()).or_insert_with(|| {
                *next += 1;
                *next
            });
        }
    }
}

/// One line for each problem that is new, and one for each source that is well again or lists another number of
/// endpoints.
fn log_changes(before: &[SourceState], now: &[SourceState]) {
    for (index, state) in now.iter().enumerate() {
        let known = before.get(index);
        let (pool, source) = (state.pool.as_str(), state.source.as_str());
        for problem in &state.problems {
            if known.is_none_or(|known| !known.problems.contains(problem)) {
                tracing::warn!(pool, source, "discovery: {problem}");
            }
        }
        if known.is_some_and(|known| !known.problems.is_empty()) && state.problems.is_empty() {
            tracing::info!(pool, source, "discovery is good again");
        }
        if let Some(endpoints) = state.endpoints
            && known.and_then(|known| known.endpoints) != Some(endpoints)
        {
            tracing::info!(pool, source, endpoints, "discovery lists endpoints");
        }
    }
}
