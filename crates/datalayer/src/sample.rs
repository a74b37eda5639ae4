//! One measured fact about an endpoint.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What was measured. Numbers are finite; the constructor is the only way in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// A finite number in the attribute's unit.
    Number(Finite),
    /// A set of names, for instance served models or loaded adapters.
    Names(Vec<String>),
}

/// A number that is neither NaN nor infinite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Finite(f64);

impl TryFrom<f64> for Finite {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        // Adding zero makes -0 zero: which of the two `min` and `max` return differs between targets.
        if value.is_finite() { Ok(Self(value + 0.0)) } else { Err("the number is not finite") }
    }
}

impl From<Finite> for f64 {
    fn from(value: Finite) -> Self {
        value.0
    }
}

impl Value {
    /// A number, or `None` for NaN and the infinities, which are missing values.
    pub fn number(value: f64) -> Option<Self> {
        Finite::try_from(value).ok().map(Self::Number)
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(n) => Some(n.0),
            Self::Names(_) => None,
        }
    }

    /// The names, if this is a set of names.
    pub fn as_names(&self) -> Option<&[String]> {
        match self {
            Self::Names(names) => Some(names),
            Self::Number(_) => None,
        }
    }
}

/// A [`Value`] and when it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// What was measured.
    pub value: Value,
    /// When it was measured at the source (not when it arrived), on the reader's clock.
    pub measured_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_and_there_is_one_zero() {
        for missing in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Value::number(missing), None);
        }
        let zero = Value::number(-0.0).and_then(|value| value.as_number());
        assert_eq!(zero.map(f64::to_bits), Some(0.0_f64.to_bits()));
    }
}
