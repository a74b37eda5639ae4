//! The lease: which root context of the proxy keeps the stream.

use headroom_datalayer::{Span, Timestamp};
use headroom_wire::shared::{Lease as Record, Shared};

use crate::ports::{CREATE_ONLY, SharedData};

/// A lease that is not renewed for this long falls free: how long a trapped VM can hold up the feed.
const TERM: Span = Span::from_secs(2);
/// The holder renews when less than this is left.
const RENEW: Span = Span::from_millis(1_300);
/// One root context's view of the lease.
#[derive(Debug)]
pub(super) struct Lease {
    key: String,
    id: u64,
    held: bool,
}

impl Lease {
    pub(super) fn new(key: String, id: u64) -> Self {
        Self { key, id, held: false }
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn is_held(&self) -> bool {
        self.held
    }

    /// Renews the lease if it is ours, takes it if it is free; whether it is ours.
    pub(super) fn tick(&mut self, shared: &dyn SharedData, now: Timestamp) -> bool {
        self.held = self.hold(shared, now);
        self.held
    }

    fn hold(&self, shared: &dyn SharedData, now: Timestamp) -> bool {
        let ours = Record { holder: self.id, expires_at_us: now.plus(TERM).as_micros() };
        let Some(stored) = shared.get(&self.key) else {
            return shared.set(&self.key, &ours.encode(), Some(CREATE_ONLY)).is_ok();
        };
        let free = Record { holder: 0, expires_at_us: 0 };
        let record = Record::decode(&stored.bytes).unwrap_or(free);
        let left = Timestamp::from_micros(record.expires_at_us).since(now);
        // More left than a whole term: the clock was set back, and waiting would mean waiting for it.
        let absurd = left > TERM;
        if record.holder == self.id {
            return (left >= RENEW && !absurd)
                || shared.set(&self.key, &ours.encode(), Some(stored.cas)).is_ok();
        }
        let takable = record.holder == 0 || left == Span::ZERO || absurd;
        takable && shared.set(&self.key, &ours.encode(), Some(stored.cas)).is_ok()
    }

    /// Gives the lease up, if it is ours.
    pub(super) fn release(&mut self, shared: &dyn SharedData) {
        self.held = false;
        let Some(stored) = shared.get(&self.key) else { return };
        if Record::decode(&stored.bytes).is_ok_and(|record| record.holder == self.id) {
            let free = Record { holder: 0, expires_at_us: 0 };
            // A mismatch means that somebody has taken it already.
            let _taken = shared.set(&self.key, &free.encode(), Some(stored.cas));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::FakeShared;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn it_moves_when_it_is_given_up_or_not_renewed() {
        let shared = FakeShared::default();
        let (mut a, mut b) = (Lease::new("k".into(), 1), Lease::new("k".into(), 2));
        assert!(a.tick(&shared, at(10_000)));
        assert!(!b.tick(&shared, at(10_000)));
        assert!(a.tick(&shared, at(11_000)), "renewed");
        assert!(!b.tick(&shared, at(12_900)));
        assert!(b.tick(&shared, at(13_100)), "a has not renewed for a term");
        assert!(!a.tick(&shared, at(13_100)), "a sees that it was taken");
        b.release(&shared);
        assert!(a.tick(&shared, at(13_101)));
        b.release(&shared);
        assert!(a.tick(&shared, at(13_102)), "only the holder can give it up");
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_lock_it() {
        let shared = FakeShared::default();
        let (mut a, mut b) = (Lease::new("k".into(), 1), Lease::new("k".into(), 2));
        assert!(a.tick(&shared, at(1_000_000)));
        assert!(b.tick(&shared, at(10_000)));
    }

    proptest! {
        #[test]
        fn nobody_believes_to_hold_what_another_took_at_the_same_time(
            order in proptest::collection::vec((0usize..3, 0u64..900), 1..60)
        ) {
            let shared = FakeShared::default();
            let mut all: Vec<_> = (1..=3).map(|id| Lease::new("k".into(), id)).collect();
            let mut now = 0;
            for (who, passed) in order {
                now += passed;
                all[who].tick(&shared, at(now));
                // Whoever looks now learns the truth, and there is one truth.
                let held = all.iter_mut().filter_map(|lease| lease.tick(&shared, at(now)).then_some(())).count();
                prop_assert_eq!(held, 1);
            }
        }
    }
}
