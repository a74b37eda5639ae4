//! Points in time and spans between them, in microseconds.
//!
//! The core is given `now`; it never asks for it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A point in time: microseconds since the Unix epoch, on the reader's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(u64);

/// A length of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(u64);

impl Timestamp {
    /// From microseconds since the Unix epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// From milliseconds since the Unix epoch; saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this one; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This point moved later by `span`; saturates.
    #[must_use]
    pub const fn plus(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// This point moved by a signed number of microseconds; saturates.
    #[must_use]
    pub const fn offset(self, micros: i64) -> Self {
        Self(self.0.saturating_add_signed(micros))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// From microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// From milliseconds; saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// From seconds; saturates.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// Microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds with their fraction.
    pub fn as_secs_f64(self) -> f64 {
        std::time::Duration::from_micros(self.0).as_secs_f64()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            us if us < 1_000 => write!(f, "{us}us"),
            us if us < 10_000_000 => write!(f, "{}ms", us / 1_000),
            us => write!(f, "{}.{}s", us / 1_000_000, us / 100_000 % 10),
        }
    }
}

/// The text is no duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSpan(String);

impl fmt::Display for InvalidSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a duration: write a number and a unit, for instance 200ms, 5s, 2m or 1h",
            self.0
        )
    }
}

impl std::error::Error for InvalidSpan {}

impl FromStr for Span {
    type Err = InvalidSpan;

    /// Reads `200ms`, `1.5s`, `2m`, `1h`, `250us`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidSpan(text.to_owned());
        let text_of_number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.strip_prefix(text_of_number).ok_or_else(invalid)?;
        let micros = match unit {
            "us" => 1.0,
            "ms" => 1e3,
            "s" => 1e6,
            "m" => 60e6,
            "h" => 3_600e6,
            _ => return Err(invalid()),
        };
        let plain = text_of_number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let number: f64 = text_of_number.parse().ok().filter(|_| plain).ok_or_else(invalid)?;
        let total = number * micros;
        // Past this a f64 no longer holds every microsecond, and no setting is 285 years long.
        if total > 9e15 {
            return Err(invalid());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= total <= 9e15")]
        Ok(Self(total.round() as u64))
    }
}

/// A [`Span`] written as text in a config: `200ms`, `5s`, `2m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SpanText(pub Span);

impl TryFrom<String> for SpanText {
    type Error = InvalidSpan;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<SpanText> for String {
    fn from(text: SpanText) -> Self {
        match text.0.0 {
            us if us % 1_000_000 == 0 => format!("{}s", us / 1_000_000),
            us if us % 1_000 == 0 => format!("{}ms", us / 1_000),
            us => format!("{us}us"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit_or_refused() {
        for (text, micros) in
            [("200ms", 200_000), ("5s", 5_000_000), ("1.5s", 1_500_000), ("2m", 120_000_000), ("0s", 0)]
        {
            assert_eq!(text.parse(), Ok(Span::from_micros(micros)), "{text}");
        }
        for text in ["", "5", "s", "-1s", "5 s", "1e3s", "NaNs", "infs", "5d", "9999999999h", "1.2.3s", ".s"]
        {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        assert_eq!(String::from(SpanText(Span::from_millis(1_500))), "1500ms");
    }
}
