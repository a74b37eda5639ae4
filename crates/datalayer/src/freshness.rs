//! Whether a sample may still be believed.

use crate::{Sample, Span, Timestamp, Value};

/// How far in the reader's future a measurement may lie and still count: clocks of two machines
/// never agree to the microsecond.
pub const FUTURE_TOLERANCE: Span = Span::from_secs(1);

/// What a reader learns when it asks for an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading<'a> {
    /// A value young enough to use.
    Fresh {
        /// What was measured.
        value: &'a Value,
        /// When.
        measured_at: Timestamp,
        /// How long ago.
        age: Span,
    },
    /// A value that was measured too long ago: missing, but its age can be shown.
    Stale {
        /// How long ago it was measured.
        age: Span,
    },
    /// A value dated further ahead than [`FUTURE_TOLERANCE`]: its real age is unknown, so it is missing.
    FutureDated,
    /// Never measured.
    Missing,
}

impl Reading<'_> {
    /// The number, if there is a fresh one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Fresh { value, .. } => value.as_number(),
            Self::Stale { .. } | Self::FutureDated | Self::Missing => None,
        }
    }
}

/// Reads `sample` at `now`: values older than `max_age` are missing.
pub fn read(sample: Option<&Sample>, now: Timestamp, max_age: Span) -> Reading<'_> {
    let Some(sample) = sample else { return Reading::Missing };
    if sample.measured_at.since(now) > FUTURE_TOLERANCE {
        return Reading::FutureDated;
    }
    let age = now.since(sample.measured_at);
    if age > max_age {
        Reading::Stale { age }
    } else {
        Reading::Fresh { value: &sample.value, measured_at: sample.measured_at, age }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ms: u64) -> Sample {
        Sample { value: Value::number(0.0).expect("finite"), measured_at: Timestamp::from_millis(at_ms) }
    }

    #[test]
    fn a_value_expires_and_is_never_an_idle_zero() {
        let now = Timestamp::from_millis(100_000);
        let max_age = Span::from_millis(2_000);
        let cases =
            [(98_000, Some(0.0)), (97_999, None), (70_000, None), (100_900, Some(0.0)), (101_001, None)];
        for (at, want) in cases {
            assert_eq!(read(Some(&sample(at)), now, max_age).number(), want, "measured at {at}");
        }
        assert_eq!(read(None, now, max_age), Reading::Missing);
    }
}
