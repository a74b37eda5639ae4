//! `endpoint-attribute-filter`: keeps endpoints whose attribute compares as asked.

use headroom_datalayer::SpanText;
use serde::Deserialize;

use crate::{
    AttributeSource, BuildContext, Context, Filter, Invalid, OnMissing, Plugin, Reason, Strength, Verdict,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct EndpointAttributeFilter {
    pub(super) source: AttributeSource,
    pub(super) operator: Operator,
    pub(super) limit: f64,
    pub(super) on_missing: OnMissing,
    pub(super) fallback_on_empty: bool,
}

/// Parameters of `endpoint-attribute-filter`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Name of the attribute, for instance `GPUUtilization` (a fraction) or
    /// `custom.gpu_utilization_percent`.
    attribute: String,
    /// The comparison that a kept endpoint meets.
    algorithm: Comparison,
    /// What to do with endpoints without a value. Default `neutral`.
    #[serde(default = "default_on_missing")]
    on_missing: OnMissing,
    /// Whether the least bad of the excluded serve when nobody meets the comparison; else such
    /// requests are rejected with 429. Default false.
    #[serde(default)]
    fallback_on_empty: bool,
    /// A value older than this is missing, for instance `2s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

/// A comparison.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, tag = "type")]
enum Comparison {
    /// Compare with a fixed number.
    Threshold {
        /// The number and how to compare with it.
        threshold: Threshold,
    },
}

/// The number and how to compare with it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Threshold {
    /// How the endpoint's value must compare.
    operator: Operator,
    /// With what, in the attribute's unit.
    value: f64,
}

/// How a value must compare with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) enum Operator {
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

const fn default_on_missing() -> OnMissing {
    OnMissing::Neutral
}

impl Plugin for EndpointAttributeFilter {
    const TYPE: &'static str = "endpoint-attribute-filter";
    const SUMMARY: &'static str = "Keeps endpoints whose attribute compares with a threshold as asked.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let Comparison::Threshold { threshold } = params.algorithm;
        let mut invalid = Vec::new();
        if params.attribute.is_empty() {
            invalid.push(Invalid::new("attribute", "\"\"", "must name an attribute"));
        }
        if !threshold.value.is_finite() {
            invalid.push(Invalid::new(
                "algorithm.threshold.value",
                threshold.value,
                "must be a finite number",
            ));
        }
        if !invalid.is_empty() {
            return Err(invalid);
        }
        Ok(Self {
            source: AttributeSource::new(&params.attribute, params.max_age, cx),
            operator: threshold.operator,
            limit: threshold.value,
            on_missing: params.on_missing,
            fallback_on_empty: params.fallback_on_empty,
        })
    }
}

impl EndpointAttributeFilter {
    fn wanted(&self) -> String {
        format!("{} {}", self.operator.sign(), self.limit)
    }
}

impl Filter for EndpointAttributeFilter {
    fn strength(&self) -> Strength {
        if self.fallback_on_empty { Strength::Soft } else { Strength::Strict }
    }

    fn constraint(&self) -> String {
        format!("with {} {}", self.source.name, self.wanted())
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let column = self.source.column(cx.snapshot);
        let judge = |endpoint: &usize| match self.source.read(cx, column, *endpoint) {
            Ok(measured) if self.operator.met(measured.value, self.limit) => Verdict::Keep,
            Ok(measured) => Verdict::Drop {
                reason: Reason::Limit {
                    attribute: self.source.name.clone(),
                    value: measured.value,
                    wanted: self.wanted(),
                    age: measured.age,
                },
                excess: Some((measured.value - self.limit).abs()),
            },
            Err(why) => match self.on_missing {
                OnMissing::Pass => Verdict::Keep,
                OnMissing::Neutral => Verdict::Undecided(why),
                OnMissing::Exclude | OnMissing::Worst => Verdict::Drop {
                    reason: Reason::Unmeasured { attribute: self.source.name.clone(), why },
                    excess: None,
                },
            },
        };
        candidates.iter().map(judge).collect()
    }
}

#[cfg(test)]
mod tests;
