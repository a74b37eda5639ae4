//! How busy an engine kept its GPU lately.

use std::{collections::VecDeque, time::Duration};

/// What "lately" is.
const WINDOW: Duration = Duration::from_secs(1);

/// The stretches of time in which the GPU worked for the engine, as far back as the window needs.
#[derive(Debug, Default)]
pub(super) struct BusyTime(VecDeque<(Duration, Duration)>);

impl BusyTime {
    /// Adds a stretch that starts where the last one ended, or later.
    pub(super) fn add(&mut self, from: Duration, to: Duration) {
        match self.0.back_mut() {
            Some((_, end)) if *end >= from => *end = to,
            Some(_) | None => self.0.push_back((from, to)),
        }
        let oldest = from.saturating_sub(WINDOW);
        while self.0.front().is_some_and(|(_, end)| *end < oldest) {
            self.0.pop_front();
        }
    }

    /// The fraction of the window before `now` that was worked.
    pub(super) fn fraction(&self, now: Duration) -> f64 {
        let start = now.saturating_sub(WINDOW);
        let worked: Duration =
            self.0.iter().map(|(from, to)| (*to).min(now).saturating_sub((*from).max(start))).sum();
        (worked.as_secs_f64() / WINDOW.as_secs_f64()).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn counts_what_is_in_the_window() {
        let mut busy = BusyTime::default();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        near(busy.fraction(ms(0)), 0.0);
        busy.add(ms(100), ms(300));
        busy.add(ms(300), ms(400));
        near(busy.fraction(ms(200)), 0.1);
        near(busy.fraction(ms(1000)), 0.3);
        near(busy.fraction(ms(1200)), 0.2);
        near(busy.fraction(ms(5000)), 0.0);
        busy.add(ms(5000), ms(8000));
        near(busy.fraction(ms(7000)), 1.0);
    }
}
