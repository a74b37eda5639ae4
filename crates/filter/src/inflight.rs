//! Requests that were sent and have not ended, per endpoint.
//!
//! A request is charged by holding a [`Charge`]; dropping it is the release, so a request is never
//! released twice and never stays charged, whatever ended it. The table belongs to the VM, not to a
//! configuration: it outlives a config change. What the other workers have in flight is put beside it
//! by [`crate::workers`].

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    fmt,
    rc::Rc,
};

use headroom_datalayer::{Address, Snapshot, Timestamp};
use headroom_scheduling::InflightLoad;
use headroom_wire::shared::EndpointLoad;

use crate::ports::Stats;
use crate::stats;

/// One endpoint's requests: when each was sent, oldest first.
#[derive(Debug, Default)]
struct Slot {
    /// This worker's.
    sent: RefCell<VecDeque<Timestamp>>,
    /// The other workers', as far as they have told.
    others: RefCell<Vec<Timestamp>>,
    /// What this VM has set the gauge to last; a slot goes only when that is zero.
    published: Cell<u32>,
    /// Shared by all slots of a table: counts its changes.
    changes: Rc<Cell<u64>>,
}

impl Slot {
    /// Enters a request and returns the time it is entered under, which is never before the latest:
    /// a clock that is set back must not break the order.
    fn enter(&self, now: Timestamp) -> Timestamp {
        let Ok(mut sent) = self.sent.try_borrow_mut() else { return now };
        let at = sent.back().copied().map_or(now, |latest| latest.max(now));
        sent.push_back(at);
        self.changes.set(self.changes.get().wrapping_add(1));
        at
    }

    fn leave(&self, at: Timestamp) {
        let Ok(mut sent) = self.sent.try_borrow_mut() else { return };
        if let Ok(index) = sent.binary_search(&at) {
            sent.remove(index);
            self.changes.set(self.changes.get().wrapping_add(1));
        }
    }

    fn count(&self) -> u32 {
        self.count_since(Timestamp::default())
    }

    fn count_since(&self, since: Timestamp) -> u32 {
        let own =
            self.sent.try_borrow().map_or(0, |sent| sent.len() - sent.partition_point(|at| *at < since));
        let others =
            self.others.try_borrow().map_or(0, |sent| sent.len() - sent.partition_point(|at| *at < since));
        u32::try_from(own + others).unwrap_or(u32::MAX)
    }
}

/// Endpoints by pool and address.
type Slots = BTreeMap<(String, Address), Rc<Slot>>;

/// The requests in flight. Cheap to clone; clones are the same table.
#[derive(Clone, Debug, Default)]
pub struct Inflight {
    slots: Rc<RefCell<Slots>>,
    changes: Rc<Cell<u64>>,
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
            slots
                .retain(|_, slot| Rc::strong_count(slot) > 1 || slot.published.get() > 0 || slot.count() > 0);
        }
    }

    /// Differs whenever this worker's own requests do.
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// This worker's own requests.
    pub fn own(&self) -> Vec<EndpointLoad> {
        let Ok(slots) = self.slots.try_borrow() else { return Vec::new() };
        let load = |((pool, address), slot): (&(String, Address), &Rc<Slot>)| {
            let sent_at: Vec<_> = slot.sent.try_borrow().ok()?.iter().copied().collect();
            let load = EndpointLoad { pool: pool.clone(), address: address.clone(), sent_at };
            (!load.sent_at.is_empty()).then_some(load)
        };
        slots.iter().filter_map(load).collect()
    }

    /// Takes over what all other workers have in flight; what was known of them before is replaced.
    pub fn set_others<'a>(&self, loads: impl Iterator<Item = &'a EndpointLoad>) {
        if let Ok(slots) = self.slots.try_borrow() {
            for slot in slots.values() {
                if let Ok(mut others) = slot.others.try_borrow_mut() {
                    others.clear();
                }
            }
        }
        for load in loads {
            if let Ok(mut others) = self.slot(&load.pool, &load.address).others.try_borrow_mut() {
                others.extend_from_slice(&load.sent_at);
                others.sort_unstable();
            }
        }
    }

    /// Shows the requests in flight of all workers in the gauges. One VM does it for all.
    pub fn publish(&self, stats: &dyn Stats) {
        let Ok(slots) = self.slots.try_borrow() else { return };
        for ((pool, address), slot) in slots.iter() {
            slot.published.set(slot.count());
            stats.set(&stats::INFLIGHT.with(&[pool, address.as_str()]), u64::from(slot.count()));
        }
    }

    /// Requests in flight to an endpoint.
    pub fn requests(&self, pool: &str, address: &Address) -> u32 {
        self.slot(pool, address).count()
    }

    fn slot(&self, pool: &str, address: &Address) -> Rc<Slot> {
        let key = (pool.to_owned(), address.clone());
        match self.slots.try_borrow_mut() {
            Ok(mut slots) => {
                let new = || Rc::new(Slot { changes: Rc::clone(&self.changes), ..Slot::default() });
                Rc::clone(slots.entry(key).or_insert_with(new))
            }
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
    fn what_others_have_in_flight_counts_and_is_not_told_as_our_own() {
        let inflight = Inflight::default();
        let view = inflight.view(&snapshot("p", 2));
        let _charge = inflight.charge("p", &address(1), at(10));
        let told = |sent: &[u64]| EndpointLoad {
            pool: "p".into(),
            address: address(1),
            sent_at: sent.iter().map(|ms| at(*ms)).collect(),
        };
        inflight.set_others([told(&[5, 30]), told(&[20])].iter());
        assert_eq!(
            (view.requests(0), view.requests_since(0, at(10)), view.requests_since(0, at(20))),
            (4, 3, 2)
        );
        assert_eq!(inflight.own(), [told(&[10])]);
        inflight.set_others([].iter());
        assert_eq!(view.requests(0), 1);
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
