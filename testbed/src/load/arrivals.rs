//! When requests are due.

use std::time::Duration;

/// Arrival times of a Poisson process of `rate` per second over `length`.
pub(super) fn poisson(rate: f64, length: Duration, rng: &mut fastrand::Rng) -> Vec<Duration> {
    let mut times = Vec::new();
    let mut at = 0.0;
    loop {
        // 1 - u is in (0, 1], so that the logarithm is finite.
        at += -(1.0 - rng.f64()).ln() / rate;
        if at >= length.as_secs_f64() {
            return times;
        }
        times.push(Duration::from_secs_f64(at));
    }
}
