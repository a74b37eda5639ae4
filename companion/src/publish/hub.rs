//! All pools, and the signal that something changed.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use headroom_datalayer::{Address, PoolState, Sample};
use headroom_wire::feed;
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use super::pool::{Next, PoolFeed};
use crate::config;

/// The shortest time between two deltas of a pool: changes in between travel together.
const COALESCE: Duration = Duration::from_millis(25);

/// How long a publisher that has just started holds back a pool's first snapshot until each of the
/// pool's targets was tried. A snapshot replaces what the reader knows, so that an empty one would
/// cost it values that are still young enough to use.
const WARM_UP: Duration = Duration::from_secs(1);

/// Where scrapes leave what they found and sessions pick it up.
#[derive(Debug)]
pub(crate) struct Hub {
    epoch: u64,
    pools: Vec<Slot>,
    by_name: BTreeMap<String, usize>,
    changed: Notify,
    wake: watch::Sender<()>,
    warm_until: Instant,
}

#[derive(Debug)]
struct Slot {
    feed: Mutex<PoolFeed>,
    untried_targets: AtomicUsize,
}

/// A new sample of an endpoint, or `None` for one that its source no longer has.
pub(crate) type Change = (Address, String, Option<Sample>);

/// A pool's place in the hub, for a subscriber.
pub(super) type PoolIndex = usize;

impl Hub {
    /// Pools as the config has them, with nothing measured.
    pub(crate) fn new(config: &config::Config, epoch: u64) -> Self {
        let slot = |(index, pool): (usize, &config::Pool)| {
            let tells =
                |target: &&config::Target| target.consumers.iter().any(|consumer| consumer.pool == index);
            Slot {
                feed: Mutex::new(PoolFeed::new(pool.name.clone(), epoch, pool.endpoints.clone())),
                untried_targets: AtomicUsize::new(config.targets.iter().filter(tells).count()),
            }
        };
        Self {
            epoch,
            pools: config.pools.iter().enumerate().map(slot).collect(),
            by_name: config
                .pools
                .iter()
                .enumerate()
                .map(|(index, pool)| (pool.name.clone(), index))
                .collect(),
            changed: Notify::new(),
            wake: watch::Sender::new(()),
            warm_until: Instant::now() + WARM_UP,
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
    pub(crate) fn target_tried(&self, pool: usize) {
        if let Some(slot) = self.pools.get(pool) {
            let _before = slot
                .untried_targets
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| Some(count.saturating_sub(1)));
            self.changed.notify_one();
        }
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

    /// When the pool's first snapshot is due at the latest, while it is held back.
    pub(super) fn held_back_until(&self, pool: PoolIndex) -> Option<Instant> {
        let untried = self.pools.get(pool).map_or(0, |slot| slot.untried_targets.load(Ordering::Acquire));
        (untried > 0 && Instant::now() < self.warm_until).then_some(self.warm_until)
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
    pub(super) fn unknown(&self, pool: String) -> feed::Snapshot {
        feed::Snapshot { pool, epoch: self.epoch, sequence: 1, endpoints: Vec::new() }
    }
}

/// Nothing panics while it holds a pool; should it, the pool's state is whole between two updates.
fn lock(feed: &Mutex<PoolFeed>) -> MutexGuard<'_, PoolFeed> {
    feed.lock().unwrap_or_else(PoisonError::into_inner)
}
