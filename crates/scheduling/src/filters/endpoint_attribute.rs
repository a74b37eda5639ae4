//! `endpoint-attribute-filter`: keeps endpoints whose attribute compares as asked.

use headroom_datalayer::SpanText;
use serde::Deserialize;

use crate::limit::{self, Limit, Operator, Quantity};
use crate::{AttributeSource, BuildContext, Context, Filter, Invalid, OnMissing, Plugin, Strength, Verdict};

/// See the module.
#[derive(Clone, Debug)]
pub struct EndpointAttributeFilter {
    pub(super) limit: Limit,
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
    #[serde(default = "limit::neutral")]
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

impl Plugin for EndpointAttributeFilter {
    const TYPE: &'static str = "endpoint-attribute-filter";
    const SUMMARY: &'static str = "Keeps endpoints whose attribute compares with a threshold as asked; what this proxy sent since the measurement counts into a number of requests.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let Comparison::Threshold { threshold } = params.algorithm;
        let mut invalid = Vec::new();
        if params.attribute.is_empty() {
            invalid.push(Invalid::new("attribute", "\"\"", "must name an attribute"));
        }
        if !threshold.value.is_finite() {
            let path = "algorithm.threshold.value";
            invalid.push(Invalid::new(path, threshold.value, "must be a finite number"));
        }
        if !invalid.is_empty() {
            return Err(invalid);
        }
        let source = AttributeSource::new(&params.attribute, params.max_age, cx);
        Ok(Self {
            limit: Limit {
                quantity: Quantity::Attribute(source),
                operator: threshold.operator,
                limit: threshold.value,
                on_missing: params.on_missing,
            },
            fallback_on_empty: params.fallback_on_empty,
        })
    }
}

impl Filter for EndpointAttributeFilter {
    fn strength(&self) -> Strength {
        if self.fallback_on_empty { Strength::Soft } else { Strength::Strict }
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        format!("with {} {}", self.limit.name(), self.limit.wanted())
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let column = self.limit.column(cx);
        candidates.iter().map(|&endpoint| self.limit.judge(cx, column, endpoint)).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        self.limit.describe(cx, endpoint)
    }
}

#[cfg(test)]
mod tests;
