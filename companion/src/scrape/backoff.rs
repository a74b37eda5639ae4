//! When a target is scraped next.

use std::time::Duration;

/// How long to wait after a scrape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    /// The time from one scrape's start to the next one's.
    pub(super) interval: Duration,
    /// The longest pause after a failure.
    pub(super) max_backoff: Duration,
}

impl Schedule {
    /// The pause before the first scrape: targets are spread over their interval, but a long one is
    /// nothing to start with.
    pub(super) fn first(self, random: f64) -> Duration {
        self.interval.min(Duration::from_secs(1)).mul_f64(random)
    }

    /// The pause after a scrape that took `elapsed`. A target that is slower than half its interval
    /// is left alone for half an interval, so that its own work is not crowded out by scrapes.
    /// `random` in 0..1 moves the pause by up to a tenth of the interval, so that targets do not fall
    /// into step.
    pub(super) fn after_success(self, elapsed: Duration, random: f64) -> Duration {
        let interval = self.interval.mul_f64(0.9 + 0.2 * random);
        interval.saturating_sub(elapsed).max(interval / 2)
    }

    /// The pause after the `failures`-th failure in a row: one interval, doubling.
    pub(super) fn after_failure(self, failures: u32, random: f64) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        self.interval.saturating_mul(doubled).min(self.max_backoff).mul_f64(0.8 + 0.2 * random)
    }
}
