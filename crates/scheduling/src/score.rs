//! A score: finite, 0 to 1, higher is better.

/// How good an endpoint is in one respect: 0 (worst) to 1 (best).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Score(f64);

impl Score {
    /// The worst.
    pub const WORST: Self = Self(0.0);
    /// The best.
    pub const BEST: Self = Self(1.0);

    /// Clamps into [0, 1]; NaN, which no scorer should produce, is the worst score.
    pub fn new(value: f64) -> Self {
        if value.is_nan() { Self::WORST } else { Self(value.clamp(0.0, 1.0)) }
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}
