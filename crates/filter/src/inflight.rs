//! Requests that this worker has sent and that have not ended, per endpoint.
//!
//! A request is charged by holding a [`Charge`]; dropping it is the release, so a request is never
//! released twice and never stays charged, whatever ended it. The table belongs to the VM, not to a
//! configuration: it outlives a config change.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    fmt,
    rc::Rc,
};

use headroom_datalayer::{Address, Snapshot, Timestamp};
use headroom_scheduling::InflightLoad;

use crate::ports::Stats;
use crate::stats;

/// One endpoint's requests: when each was sent, oldest first.
#[derive(Debug, Default)]
struct Slot {
    sent: RefCell<VecDeque<Timestamp>>,
    /// This worker's part in the gauge that all workers share.
    published: Cell<u32>,
}

impl Slot {
    /// Enters a request and returns the time it is entered under, which is never before the latest:
    /// a clock that is set back must not break the order.
    fn enter(&self, now: Timestamp) -> Timestamp {
        let Ok(mut sent) = self.sent.try_borrow_mut() else { return now };
        let at = sent.back().copied().map_or(now, |latest| latest.max(now));
        sent.push_back(at);
        at
    }

    fn leave(&self, at: Timestamp) {
        let Ok(mut sent) = self.sent.try_borrow_mut() else { return };
        if let Ok(index) = sent.binary_search(&at) {
            sent.remove(index);
        }
    }

    fn count(&self) -> u32 {
        self.sent.try_borrow().map_or(0, |sent| u32::try_from(sent.len()).unwrap_or(u32::MAX))
    }

    fn count_since(&self, since: Timestamp) -> u32 {
        self.sent.try_borrow().map_or(0, |sent| {
            let before = sent.partition_point(|at| *at < since);
            u32::try_from(sent.len() - before).unwrap_or(u32::MAX)
        })
    }
}

/// Endpoints by pool and address.
type Slots = BTreeMap<(String, Address), Rc<Slot>>;

/// A worker's requests in flight. Cheap to clone; clones are the same table.
#[derive(Clone, Debug, Default)]
pub struct Inflight {
    slots: Rc<RefCell<Slots>>,
}

/// One request's place in the table; dropping it takes the request out.
pub struct Charge {
    slot: Rc<Slot>,
    at: Timestamp,
    address: Address,
}

impl fmt::Debug for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charge").field("address", &self.address).field("at", &self.at).finish_non_exhaustive()
    }
}

impl Charge {
    /// The endpoint that is charged.
    pub fn address(&self) -> &Address {
        &self.address
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.slot.leave(self.at);
    }
}

impl Inflight {
    /// Charges one request to an endpoint, as sent at `now`.
    pub fn charge(&self, pool: &str, address: &Address, now: Timestamp) -> Charge {
        let slot = self.slot(pool, address);
        let at = slot.enter(now);
        Charge { slot, at, address: address.clone() }
    }

    /// The load on the endpoints of `snapshot`, by index. Stays current: it reads the table itself.
    pub fn view(&self, snapshot: &Snapshot) -> LoadView {
        let slots = snapshot.endpoints().iter().map(|e| self.slot(snapshot.pool(), &e.address)).collect();
        LoadView { slots }
    }

    /// Forgets endpoints that no snapshot names and that have no requests.
    pub fn sweep(&self) {
        if let Ok(mut slots) = self.slots.try_borrow_mut() {
            slots.retain(|_, slot| Rc::strong_count(slot) > 1 || slot.published.get() > 0);
        }
    }

    /// Brings the gauges of requests in flight up to date with this worker's counts.
    pub fn publish(&self, stats: &dyn Stats) {
        let Ok(slots) = self.slots.try_borrow() else { return };
        for ((pool, address), slot) in slots.iter() {
            let count = slot.count();
            let before = slot.published.replace(count);
            if count != before {
                let by = i64::from(count) - i64::from(before);
                let name = stats::INFLIGHT.with(&[pool, address.as_str()]);
                stats.adjust(&name, i32::try_from(by).unwrap_or_default());
            }
        }
    }

    /// Requests in flight to an endpoint.
    pub fn requests(&self, pool: &str, address: &Address) -> u32 {
        self.slot(pool, address).count()
    }

    fn slot(&self, pool: &str, address: &Address) -> Rc<Slot> {
        let key = (pool.to_owned(), address.clone());
        match self.slots.try_borrow_mut() {
            Ok(mut slots) => Rc::clone(slots.entry(key).or_default()),
            // Not reached: no method calls out while it holds the table.
            Err(_) => Rc::default(),
        }
    }
}

/// See [`Inflight::view`].
#[derive(Debug, Default)]
pub struct LoadView {
    slots: Vec<Rc<Slot>>,
}

impl InflightLoad for LoadView {
    fn requests(&self, endpoint: usize) -> u32 {
        self.slots.get(endpoint).map_or(0, |slot| slot.count())
    }

    fn requests_since(&self, endpoint: usize, since: Timestamp) -> u32 {
        self.slots.get(endpoint).map_or(0, |slot| slot.count_since(since))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{address, snapshot};

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn requests_are_counted_until_their_charge_is_dropped() {
        let inflight = Inflight::default();
        let view = inflight.view(&snapshot("p", 2));
        let first = inflight.charge("p", &address(1), at(10));
        let second = inflight.charge("p", &address(1), at(20));
        assert_eq!((view.requests(0), view.requests(1)), (2, 0));
        assert_eq!((view.requests_since(0, at(10)), view.requests_since(0, at(11))), (2, 1));
        drop(first);
        assert_eq!(view.requests_since(0, at(0)), 1);
        drop(second);
        assert_eq!(view.requests(0), 0);
    }

    #[test]
    fn only_endpoints_that_nobody_holds_are_forgotten() {
        let inflight = Inflight::default();
        let charge = inflight.charge("p", &address(1), at(1));
        inflight.charge("p", &address(2), at(1));
        inflight.sweep();
        assert_eq!(inflight.slots.borrow().len(), 1);
        drop(charge);
        inflight.sweep();
        assert!(inflight.slots.borrow().is_empty());
    }

    #[test]
    fn the_gauge_follows_and_ends_at_zero() {
        let (inflight, stats) = (Inflight::default(), crate::testing::FakeStats::default());
        let gauge = || stats.get("headroom_inflight_requests.pool=p.endpoint=10_0_0_1:8000");
        let charges = [inflight.charge("p", &address(1), at(1)), inflight.charge("p", &address(1), at(2))];
        inflight.publish(&stats);
        assert_eq!(gauge(), 2);
        drop(charges);
        inflight.sweep();
        inflight.publish(&stats);
        assert_eq!(gauge(), 0);
    }

    proptest! {
        #[test]
        fn whatever_the_order_of_sends_and_ends_all_counts_end_at_zero(
            steps in proptest::collection::vec((1usize..4, 0u64..50, any::<bool>()), 0..80)
        ) {
            let inflight = Inflight::default();
            let mut open: Vec<Charge> = Vec::new();
            for (endpoint, time, send) in steps {
                if send || open.is_empty() {
                    open.push(inflight.charge("p", &address(endpoint), at(time)));
                } else {
                    open.swap_remove(usize::try_from(time).unwrap_or(0) % open.len());
                }
                for n in 1..4 {
                    let held = open.iter().filter(|charge| *charge.address() == address(n)).count();
                    prop_assert_eq!(inflight.requests("p", &address(n)) as usize, held);
                }
            }
            drop(open);
            for n in 1..4 {
                prop_assert_eq!(inflight.requests("p", &address(n)), 0);
            }
        }
    }
}
