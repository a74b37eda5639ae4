//! All pools, and the signal that something changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use headroom_datalayer::{Address, Endpoint, PoolState, Sample};
use headroom_wire::feed::{self, subscribe_response::Message};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use super::{
    encoded::Encoded,
    pool::{Next, PoolFeed},
};
use crate::scrape::TargetId;

/// The shortest time between two deltas of a pool: changes in between travel together.
const COALESCE: Duration = Duration::from_millis(25);

/// How long a pool's first snapshot is held back until each of the pool's targets was tried. A snapshot
/// replaces what the reader knows, so that an empty one would cost it values that are still young enough to use.
const WARM_UP: Duration = Duration::from_secs(1);

/// How long a pool's first snapshot is held back while some of its sources could not be asked for endpoints yet
/// and others could. While none could, it is held back without end: the reader keeps what it knows.
const DISCOVER: Duration = Duration::from_secs(10);

/// Where scrapes leave what they found and sessions pick it up.
#[derive(Debug)]
pub(crate) struct Hub {
    epoch: u64,
    pools: Vec<Slot>,
    by_name: BTreeMap<String, usize>,
    changed: Notify,
    wake: watch::Sender<()>,
}

#[derive(Debug)]
struct Slot {
    feed: Mutex<PoolFeed>,
    start: Mutex<Start>,
}

/// How far a pool is before its first snapshot.
#[derive(Debug)]
struct Start {
    /// When every source is known or given up.
    discovered_by: Instant,
    /// Whether every source was asked.
    listed: bool,
    /// Whether there is any endpoint.
    has_endpoints: bool,
    /// The targets that were not scraped yet.
    untried: BTreeSet<TargetId>,
    /// When they are waited for no longer.
    warm_until: Option<Instant>,
}

/// A new sample of an endpoint, or `None` for one that its source no longer has.
pub(crate) type Change = (Address, String, Option<Sample>);

/// A pool's place in the hub, for a subscriber.
pub(super) type PoolIndex = usize;

impl Hub {
    /// Pools with these names, of which no endpoint is known.
    pub(crate) fn new(pools: Vec<String>, epoch: u64) -> Self {
        let by_name = pools.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        let slot = |name: String| Slot {
            feed: Mutex::new(PoolFeed::new(name, epoch)),
            start: Mutex::new(Start {
                discovered_by: Instant::now() + DISCOVER,
                listed: false,
                has_endpoints: false,
                untried: BTreeSet::new(),
                warm_until: None,
            }),
        };
        Self {
            epoch,
            pools: pools.into_iter().map(slot).collect(),
            by_name,
            changed: Notify::new(),
            wake: watch::Sender::new(()),
        }
    }

    /// Sets which endpoints the pool with this number in the config has. What is known of those that stay is kept.
    pub(crate) fn set_endpoints(&self, pool: usize, endpoints: Vec<Endpoint>) {
        if let Some(slot) = self.pools.get(pool) {
            let mut start = lock(&slot.start);
            start.has_endpoints |= !endpoints.is_empty();
            lock(&slot.feed).set_endpoints(endpoints);
            self.changed.notify_one();
        }
    }

    /// Notes that each source of the pool has listed its endpoints.
    pub(crate) fn listed(&self, pool: usize) {
        if let Some(slot) = self.pools.get(pool) {
            lock(&slot.start).listed = true;
            self.changed.notify_one();
        }
    }

    /// Notes which of the pool's targets were not tried yet. The first call starts the time that they have.
    pub(crate) fn await_targets(&self, pool: usize, untried: BTreeSet<TargetId>) {
        if let Some(slot) = self.pools.get(pool) {
            let mut start = lock(&slot.start);
            start.untried = untried;
            if start.has_endpoints {
                start.warm_until.get_or_insert_with(|| Instant::now() + WARM_UP);
            }
            self.changed.notify_one();
        }
    }

    /// Takes what a scrape found for an endpoint of the pool with this number in the config.
    pub(crate) fn submit(&self, pool: usize, changes: Vec<Change>) {
        if let Some(slot) = self.pools.get(pool).filter(|_| !changes.is_empty()) {
            lock(&slot.feed).submit(changes);
            self.changed.notify_one();
        }
    }

    /// Notes that one of the pool's targets was tried for the first time.
    pub(crate) fn target_tried(&self, pool: usize, target: TargetId) {
        if let Some(slot) = self.pools.get(pool) {
            lock(&slot.start).untried.remove(&target);
            self.changed.notify_one();
        }
    }

    /// The pools that no snapshot is given of yet, because it is not known which endpoints they have.
    pub(crate) fn undiscovered(&self) -> Vec<String> {
        let now = Instant::now();
        let waiting = self.pools.iter().filter(|slot| !lock(&slot.start).is_discovered(now));
        waiting.map(|slot| lock(&slot.feed).name().to_owned()).collect()
    }

    /// Turns what was submitted into deltas, for as long as the process runs.
    pub(crate) async fn run(&self) {
        loop {
            self.changed.notified().await;
            for slot in &self.pools {
                lock(&slot.feed).flush();
            }
            self.wake.send_replace(());
            tokio::time::sleep(COALESCE).await;
        }
    }

    /// Reads each pool's name and state.
    pub(crate) fn for_each_pool(&self, mut read: impl FnMut(&str, &PoolState)) {
        for slot in &self.pools {
            let feed = lock(&slot.feed);
            read(feed.name(), feed.state());
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<PoolIndex> {
        self.by_name.get(name).copied()
    }

    /// Fires whenever any pool may have something new.
    pub(super) fn listen(&self) -> watch::Receiver<()> {
        self.wake.subscribe()
    }

    /// When to ask again, while the pool's first snapshot is held back.
    pub(super) fn held_back_until(&self, pool: PoolIndex) -> Option<Instant> {
        let start = lock(&self.pools.get(pool)?.start);
        let now = Instant::now();
        if !start.is_discovered(now) {
            // Whoever lists the pool wakes the subscribers.
            return Some(if now < start.discovered_by { start.discovered_by } else { now + DISCOVER });
        }
        start.warm_until.filter(|until| now < *until && !start.untried.is_empty())
    }

    /// What comes after the message number `cursor` of a pool.
    pub(super) fn after(&self, pool: PoolIndex, cursor: Option<u64>) -> Next {
        let Some(slot) = self.pools.get(pool) else { return Next::UpToDate };
        let mut feed = lock(&slot.feed);
        if cursor.is_none() {
            feed.flush();
        }
        feed.after(cursor)
    }

    /// The snapshot of a pool that the config does not have.
    pub(super) fn unknown(&self, pool: String) -> Next {
        let (epoch, sequence) = (self.epoch, 1);
        let snapshot = feed::Snapshot { pool, epoch, sequence, endpoints: Vec::new() };
        Next::Snapshot(sequence, Encoded::new(Message::Snapshot(snapshot)))
    }
}

impl Start {
    fn is_discovered(&self, now: Instant) -> bool {
        self.listed || (self.has_endpoints && now >= self.discovered_by)
    }
}

/// Nothing panics while it holds a pool; should it, the pool's state is whole between two updates.
fn lock<T>(feed: &Mutex<T>) -> MutexGuard<'_, T> {
    feed.lock().unwrap_or_else(PoisonError::into_inner)
}
