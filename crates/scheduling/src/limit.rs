//! A number of an endpoint and the limit that it is to keep.

use crate::{AttributeSource, Context, OnMissing, Reason, Unmeasured, Verdict};
use headroom_datalayer::Column;
use serde::Deserialize;

/// How a value must compare with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Operator {
    /// `<`
    LessThan,
    /// `<=`
    LessThanOrEqual,
    /// `>`
    GreaterThan,
    /// `>=`
    GreaterThanOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Operator {
    #[expect(clippy::float_cmp, reason = "the operator that was asked for is exact equality")]
    fn met(self, value: f64, limit: f64) -> bool {
        match self {
            Self::LessThan => value < limit,
            Self::LessThanOrEqual => value <= limit,
            Self::GreaterThan => value > limit,
            Self::GreaterThanOrEqual => value >= limit,
            Self::Equal => value == limit,
            Self::NotEqual => value != limit,
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::LessThan => "<",
            Self::LessThanOrEqual => "<=",
            Self::GreaterThan => ">",
            Self::GreaterThanOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }
}

/// Where the number comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// Measured, with what was sent since.
    Attribute(AttributeSource),
    /// Requests that this proxy has in flight, under the name that the config gives them.
    InFlight(&'static str),
}

/// A number and its limit.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) quantity: Quantity,
    pub(crate) operator: Operator,
    pub(crate) limit: f64,
    pub(crate) on_missing: OnMissing,
}

impl Limit {
    pub(crate) fn name(&self) -> &str {
        match &self.quantity {
            Quantity::Attribute(source) => &source.name,
            Quantity::InFlight(name) => name,
        }
    }

    /// The comparison, as in `<= 90`.
    pub(crate) fn wanted(&self) -> String {
        format!("{} {}", self.operator.sign(), self.limit)
    }

    /// Look it up once per run.
    pub(crate) fn column(&self, cx: &Context<'_>) -> Option<Column> {
        match &self.quantity {
            Quantity::Attribute(source) => source.column(cx.snapshot),
            Quantity::InFlight(_) => None,
        }
    }

    /// Judges one endpoint.
    pub(crate) fn judge(&self, cx: &Context<'_>, column: Option<Column>, endpoint: usize) -> Verdict {
        let (value, sent_since, age) = match &self.quantity {
            Quantity::Attribute(source) => match source.read(cx, column, endpoint) {
                Ok(measured) => (measured.total(), measured.sent_since, Some(measured.age)),
                Err(why) => return missing(self.on_missing, &source.name, why),
            },
            Quantity::InFlight(_) => (f64::from(cx.local.load.requests(endpoint)), 0, None),
        };
        if self.operator.met(value, self.limit) {
            return Verdict::Keep;
        }
        let attribute = self.name().to_owned();
        Verdict::Drop {
            reason: Reason::Limit { attribute, value, sent_since, wanted: self.wanted(), age },
            // Halved, so that the distance between any two numbers is finite.
            excess: Some((value / 2.0 - self.limit / 2.0).abs()),
        }
    }

    /// What the endpoint has.
    pub(crate) fn describe(&self, cx: &Context<'_>, endpoint: usize) -> String {
        match &self.quantity {
            Quantity::Attribute(source) => source.describe(cx, endpoint),
            Quantity::InFlight(name) => format!("{name} {}", cx.local.load.requests(endpoint)),
        }
    }
}

/// What a filter says of an endpoint without a value.
pub(crate) fn missing(on_missing: OnMissing, attribute: &str, why: Unmeasured) -> Verdict {
    let attribute = attribute.to_owned();
    match on_missing {
        OnMissing::Pass => Verdict::Keep,
        OnMissing::Neutral => Verdict::Undecided { attribute, why },
        OnMissing::Exclude | OnMissing::Worst => {
            Verdict::Drop { reason: Reason::Unmeasured { attribute, why }, excess: None }
        }
    }
}

/// The default of filters: nothing known is neither good nor bad.
pub(crate) const fn neutral() -> OnMissing {
    OnMissing::Neutral
}
