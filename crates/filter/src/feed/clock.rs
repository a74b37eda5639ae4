//! The companion's clock against ours.
//!
//! Times in messages are the companion's. A message takes some time to arrive, so the difference
//! `ours − theirs` at arrival is never smaller than the true offset between the clocks; the smallest
//! one seen on this stream lately is the best estimate: a message that is delayed more than the quickest one
//! does not make its values look fresher.

use headroom_datalayer::{Span, Timestamp};

/// An offset that was seen once counts for one to two of these: a clock that has been set back shows
/// after that time.
const WINDOW: Span = Span::from_secs(30);

/// The smallest differences of this window and of the one before.
#[derive(Debug, Default)]
pub(super) struct ClockOffset {
    window_began: Timestamp,
    current: Option<i64>,
    previous: Option<i64>,
}

impl ClockOffset {
    /// A message that was sent at `theirs` has arrived at `ours`; returns what to add to their times,
    /// in microseconds.
    pub(super) fn observe(&mut self, ours: Timestamp, theirs: Timestamp) -> i64 {
        let difference =
            i64::try_from(i128::from(ours.as_micros()) - i128::from(theirs.as_micros())).unwrap_or_default();
        if ours.since(self.window_began) > WINDOW {
            self.previous = self.current.take();
            self.window_began = ours;
        }
        let current = self.current.map_or(difference, |smallest| smallest.min(difference));
        self.current = Some(current);
        self.previous.map_or(current, |smallest| smallest.min(current))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delayed_message_does_not_make_its_values_fresher() {
        let mut clock = ClockOffset::default();
        let at = Timestamp::from_millis;
        assert_eq!(clock.observe(at(100_000), at(90_000)), 10_000_000);
        assert_eq!(clock.observe(at(105_000), at(91_000)), 10_000_000, "4 s late");
        assert_eq!(clock.observe(at(102_000), at(92_001)), 9_999_000, "less delayed than the first");
        // Set back by 20 s: seen when both windows have passed.
        assert_eq!(clock.observe(at(140_000), at(110_000)), 9_999_000);
        assert_eq!(clock.observe(at(180_000), at(150_000)), 30_000_000);
    }
}
