//! A histogram of times.

/// Upper bounds in seconds; vLLM's for the time to the first token.
const BOUNDS: [f64; 22] = [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0,
    80.0, 160.0, 640.0, 2560.0,
];

/// How many observations there were up to each bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    within: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    pub(super) fn observe(&mut self, seconds: f64) {
        self.count += 1;
        self.sum += seconds;
        for (within, bound) in self.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= bound);
        }
    }

    /// The bounds in seconds, each with the number of observations that are not above it.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        BOUNDS.into_iter().zip(self.within)
    }

    /// Observations.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Their sum in seconds.
    pub(crate) fn sum(&self) -> f64 {
        self.sum
    }
}
