//! `gpu-utilization-filter`: short form of `endpoint-attribute-filter` on `GPUUtilization`.

use headroom_datalayer::SpanText;
use serde::Deserialize;

use super::endpoint_attribute::EndpointAttributeFilter;
use crate::limit::{self, Limit, Operator, Quantity};
use crate::{AttributeSource, BuildContext, Context, Filter, Invalid, OnMissing, Plugin, Strength, Verdict};

/// See the module.
#[derive(Clone, Debug)]
pub struct GpuUtilizationFilter(EndpointAttributeFilter);

/// Parameters of `gpu-utilization-filter`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Endpoints whose busiest GPU is active more than this share of the time are left out. Percent,
    /// 0 to 100.
    max_percent: f64,
    /// Whether the least utilised serve when all are over the limit; else such requests are
    /// rejected with 429. Default true.
    #[serde(default = "default_fallback")]
    fallback_on_empty: bool,
    /// What to do with endpoints whose utilisation is not known. Default `neutral`.
    #[serde(default = "limit::neutral")]
    on_missing: OnMissing,
    /// A value older than this is missing, for instance `10s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

const fn default_fallback() -> bool {
    true
}

impl Plugin for GpuUtilizationFilter {
    const TYPE: &'static str = "gpu-utilization-filter";
    const SUMMARY: &'static str =
        "Leaves out endpoints whose busiest GPU is active more than `maxPercent` of the time.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if !(0.0..=100.0).contains(&params.max_percent) {
            return Err(vec![Invalid::new("maxPercent", params.max_percent, "must be between 0 and 100")]);
        }
        let source = AttributeSource::new("custom.gpu_utilization_percent", params.max_age, cx);
        Ok(Self(EndpointAttributeFilter {
            limit: Limit {
                quantity: Quantity::Attribute(source),
                operator: Operator::LessThanOrEqual,
                limit: params.max_percent,
                on_missing: params.on_missing,
            },
            fallback_on_empty: params.fallback_on_empty,
        }))
    }
}

impl Filter for GpuUtilizationFilter {
    fn strength(&self) -> Strength {
        self.0.strength()
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        format!("with GPU utilization at most {} percent", self.0.limit.limit)
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        self.0.judge(cx, candidates)
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        self.0.grounds(cx, endpoint)
    }
}
