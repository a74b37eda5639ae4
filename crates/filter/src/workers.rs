//! What the workers of one proxy tell each other: the requests that each has in flight.
//!
//! Each VM owns a slot in shared data, found by trying from the first on, and writes there whenever its
//! own requests change; before it decides it reads what the others wrote. So a decision knows of the
//! other workers' requests up to a few milliseconds ago; of a burst's last ones, when their worker
//! ticks. The slot of a VM that has failed is silent and expires, and its requests with it.

use std::cell::RefCell;

use headroom_datalayer::{Span, Timestamp};
use headroom_wire::shared::{Shared, WorkerLoad};

use crate::inflight::Inflight;
use crate::keys;
use crate::ports::{CREATE_ONLY, SharedData, Stats};

/// More workers than any machine has cores; the search for a slot ends here.
const MAX_WORKERS: usize = 1_024;
/// A slot whose owner has not written for this long is free.
const EXPIRY: Span = Span::from_secs(3);
/// An owner with nothing to tell writes this often.
const HEARTBEAT: Span = Span::from_secs(1);
/// Shortest time between two writes, and two reads: bounds what a burst costs.
const BOUND: Span = Span::from_millis(1);

/// One VM among the workers.
#[derive(Debug)]
pub struct Workers {
    /// The requests in flight.
    pub inflight: Inflight,
    id: u64,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    own_slot: Option<usize>,
    told_at: Timestamp,
    told_changes: u64,
    looked_at: Timestamp,
    /// By slot: the number of the write that was read last, and what it said.
    others: Vec<(u32, WorkerLoad)>,
}

impl Workers {
    /// A VM that nobody knows yet; `id` tells the proxy's VMs apart.
    pub fn new(id: u64) -> Self {
        Self { inflight: Inflight::default(), id, state: RefCell::default() }
    }

    /// Reads what the other workers have in flight, unless that was done a moment ago.
    pub fn look(&self, shared: &dyn SharedData, now: Timestamp) {
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        // With many workers a look takes longer, so there are fewer.
        let bound = Span::from_micros(
            BOUND.as_micros() + 100 * u64::try_from(state.others.len()).unwrap_or_default(),
        );
        if now.since(state.looked_at) < bound && now >= state.looked_at {
            return;
        }
        state.looked_at = now;
        let mut changed = false;
        for slot in 0..MAX_WORKERS {
            let Some(stored) = shared.get(&keys::worker(slot)) else { break };
            let own = state.own_slot == Some(slot);
            match state.others.get_mut(slot) {
                Some((cas, _)) if own || *cas == stored.cas => {}
                Some(known) => {
                    *known = (stored.cas, WorkerLoad::decode(&stored.bytes).unwrap_or_default());
                    changed = true;
                }
                None => {
                    state.others.push((stored.cas, WorkerLoad::decode(&stored.bytes).unwrap_or_default()));
                    changed = true;
                }
            }
        }
        for (_, load) in &mut state.others {
            if !load.endpoints.is_empty() && is_expired(load, now) {
                load.endpoints.clear();
                changed = true;
            }
        }
        if changed {
            let others = state.others.iter().map(|(_, load)| load).filter(|load| load.holder != self.id);
            self.inflight.set_others(others.flat_map(|load| &load.endpoints));
        }
    }

    /// Writes what this worker has in flight, if it has changed or a heartbeat is due.
    pub fn tell(&self, shared: &dyn SharedData, now: Timestamp) {
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        let changes = self.inflight.changes();
        let since = now.since(state.told_at);
        let due =
            since >= HEARTBEAT || now < state.told_at || (changes != state.told_changes && since >= BOUND);
        if !due {
            return;
        }
        let load =
            WorkerLoad { holder: self.id, heartbeat_us: now.as_micros(), endpoints: self.inflight.own() };
        let bytes = load.encode();
        if !state.own_slot.is_some_and(|slot| self.write(slot, &bytes, shared)) {
            state.own_slot = self.claim(&bytes, shared, now);
        }
        state.told_at = now;
        state.told_changes = changes;
    }

    /// Time has passed for a root context. The one that holds the feed's lease shows the counts of all.
    pub fn on_tick(&self, shows: bool, shared: &dyn SharedData, stats: &dyn Stats, now: Timestamp) {
        self.tell(shared, now);
        self.look(shared, now);
        if shows {
            self.inflight.publish(stats);
        }
        self.inflight.sweep();
    }

    /// Writes to our slot, if it is still ours: a VM that was held up may have lost it.
    fn write(&self, slot: usize, bytes: &[u8], shared: &dyn SharedData) -> bool {
        let key = keys::worker(slot);
        let Some(stored) = shared.get(&key) else { return false };
        let ours = WorkerLoad::decode(&stored.bytes).is_ok_and(|load| load.holder == self.id);
        ours && shared.set(&key, bytes, Some(stored.cas)).is_ok()
    }

    /// Takes the first slot that is new or free.
    fn claim(&self, bytes: &[u8], shared: &dyn SharedData, now: Timestamp) -> Option<usize> {
        (0..MAX_WORKERS).find(|slot| {
            let key = keys::worker(*slot);
            match shared.get(&key) {
                None => shared.set(&key, bytes, Some(CREATE_ONLY)).is_ok(),
                Some(stored) => {
                    let free = WorkerLoad::decode(&stored.bytes).is_ok_and(|load| is_expired(&load, now));
                    free && shared.set(&key, bytes, Some(stored.cas)).is_ok()
                }
            }
        })
    }
}

/// Whether the owner is gone. A heartbeat far in the future is of a clock that was set back.
fn is_expired(load: &WorkerLoad, now: Timestamp) -> bool {
    let heartbeat = Timestamp::from_micros(load.heartbeat_us);
    now.since(heartbeat) > EXPIRY || heartbeat.since(now) > EXPIRY
}

#[cfg(test)]
mod tests {
    use headroom_scheduling::InflightLoad;

    use super::*;
    use crate::testing::{FakeShared, address, snapshot};

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn workers_know_of_each_others_requests_at_once_and_of_their_end() {
        let shared = FakeShared::default();
        let (a, b) = (Workers::new(1), Workers::new(2));
        let view = b.inflight.view(&snapshot("p", 2));
        let charge = a.inflight.charge("p", &address(1), at(10_000));
        a.tell(&shared, at(10_000));
        b.tell(&shared, at(10_000));
        b.look(&shared, at(10_000));
        assert_eq!((view.requests(0), view.requests(1)), (1, 0));
        drop(charge);
        a.tell(&shared, at(10_002));
        b.look(&shared, at(10_004));
        assert_eq!(view.requests(0), 0);
    }

    #[test]
    fn own_requests_are_not_counted_twice() {
        let shared = FakeShared::default();
        let a = Workers::new(1);
        let view = a.inflight.view(&snapshot("p", 1));
        let _charge = a.inflight.charge("p", &address(1), at(10_000));
        a.tell(&shared, at(10_000));
        a.look(&shared, at(10_005));
        assert_eq!(view.requests(0), 1);
    }

    #[test]
    fn a_failed_vm_is_forgotten_and_its_slot_used_again() {
        let shared = FakeShared::default();
        let (failed, b) = (Workers::new(1), Workers::new(2));
        let _lost = failed.inflight.charge("p", &address(1), at(10_000));
        failed.tell(&shared, at(10_000));
        b.tell(&shared, at(10_000));
        b.look(&shared, at(10_001));
        let view = b.inflight.view(&snapshot("p", 1));
        assert_eq!(view.requests(0), 1);
        b.look(&shared, at(13_100));
        assert_eq!(view.requests(0), 0);
        let again = Workers::new(3);
        again.tell(&shared, at(13_200));
        assert_eq!(again.state.borrow().own_slot, Some(0));
        assert!(shared.get(&keys::worker(2)).is_none(), "no third slot");
        failed.tell(&shared, at(13_300));
        assert_ne!(
            failed.state.borrow().own_slot,
            Some(0),
            "one that was held up does not write over its heir"
        );
    }

    #[test]
    fn a_silent_owner_keeps_its_slot_by_heartbeats() {
        let shared = FakeShared::default();
        let a = Workers::new(1);
        for second in 0..10 {
            a.tell(&shared, at(10_000 + second * 1_000));
        }
        Workers::new(2).tell(&shared, at(19_500));
        assert!(shared.get(&keys::worker(1)).is_some(), "the second takes another slot");
    }
}
