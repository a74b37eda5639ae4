//! A score: finite, 0 to 1, higher is better.

/// How good an endpoint is in one respect: 0 (worst) to 1 (best).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Score(f64);

/// Fine enough for any score; the sum of billions of scores fits into 64 bits.
const UNIT: f64 = 1.0 / 4_294_967_296.0;

impl Score {
    /// The worst.
    pub const WORST: Self = Self(0.0);
    /// The best.
    pub const BEST: Self = Self(1.0);

    /// Clamps into [0, 1]; NaN, which no scorer should produce, is the worst score.
    pub fn new(value: f64) -> Self {
        if value.is_nan() { Self::WORST } else { Self(value.clamp(0.0, 1.0)) }
    }

    /// In whole [`UNIT`]s, rounded: what can be added up in any order.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^32, after rounding")]
    pub(crate) fn units(self) -> u64 {
        (self.0 / UNIT).round() as u64
    }

    /// From whole [`UNIT`]s.
    pub(crate) fn from_units(units: u64) -> Self {
        u32::try_from(units).map_or(Self::BEST, |units| Self(f64::from(units) * UNIT))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}
