//! What this proxy knows itself, for one decision: the ports of the scheduler, answered from shared data.
//!
//! Each part is read when a plugin first asks for it, and once a decision.

use std::cell::OnceCell;

use headroom_datalayer::{Address, Timestamp};
use headroom_scheduling::{ColdPicks, Failing, Failures, Local, Nothing, Sessions};
use headroom_wire::shared::{Mark, Marks, Shared};

use crate::pool::{Current, Pool};
use crate::ports::SharedData;

pub(crate) mod marks;
pub(crate) mod sessions;

/// See the module.
pub(crate) struct Known<'a> {
    shared: &'a dyn SharedData,
    pool: &'a Pool,
    current: &'a Current,
    failures: OnceCell<Vec<Option<Mark>>>,
    cold_picks: OnceCell<Vec<Option<Mark>>>,
    secret: &'a [u8],
}

impl<'a> Known<'a> {
    /// For a decision on `current`; `secret` signs session tokens unless the workers have agreed on
    /// another one.
    pub(crate) fn new(
        shared: &'a dyn SharedData,
        pool: &'a Pool,
        current: &'a Current,
        secret: &'a [u8],
    ) -> Self {
        let (failures, cold_picks) = (OnceCell::new(), OnceCell::new());
        Self { shared, pool, current, failures, cold_picks, secret }
    }

    pub(crate) fn local(&self) -> Local<'_> {
        Local { load: &self.current.load, prefix: &Nothing, sessions: self, failures: self, cold_picks: self }
    }

    /// The marks behind `key`, by the endpoint's index.
    fn marks(&self, key: &str) -> Vec<Option<Mark>> {
        let stored = self.shared.get(key).and_then(|stored| Marks::decode(&stored.bytes).ok());
        let marks = stored.unwrap_or_default().marks;
        if marks.is_empty() {
            return Vec::new();
        }
        let mark = |address: &Address| marks.iter().find(|mark| mark.address == *address).cloned();
        self.current.snapshot.endpoints().iter().map(|endpoint| mark(&endpoint.address)).collect()
    }
}

impl Sessions for Known<'_> {
    fn pinned(&self, session: &str, now: Timestamp) -> Option<String> {
        sessions::find(self.shared, &self.pool.keys, session, now).map(String::from)
    }

    fn token_key(&self) -> Option<Vec<u8>> {
        Some(sessions::token_key(self.shared, self.secret))
    }
}

impl Failures for Known<'_> {
    fn failing(&self, endpoint: usize, now: Timestamp) -> Option<Failing> {
        let marks = self.failures.get_or_init(|| self.marks(&self.pool.keys.failures));
        let mark = marks.get(endpoint)?.as_ref()?;
        Some(Failing { failures: mark.count, ago: now.since(mark.at) })
    }
}

impl ColdPicks for Known<'_> {
    fn last(&self, endpoint: usize) -> Option<Timestamp> {
        let marks = self.cold_picks.get_or_init(|| self.marks(&self.pool.keys.cold_picks));
        Some(marks.get(endpoint)?.as_ref()?.at)
    }
}
