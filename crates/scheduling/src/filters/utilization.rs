//! `utilization-filter`: keeps endpoints that are within every limit.

use headroom_datalayer::{SpanText, well_known};
use serde::Deserialize;

use crate::limit::{self, Limit, Operator, Quantity};
use crate::{AttributeSource, BuildContext, Context, Filter, Invalid, OnMissing, Plugin, Strength, Verdict};

/// See the module.
#[derive(Clone, Debug)]
pub struct UtilizationFilter {
    limits: Vec<Limit>,
    fallback_on_empty: bool,
}

/// Parameters of `utilization-filter`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Limits that must all hold; at least one.
    conditions: Vec<Condition>,
    /// Whether the least bad of the excluded serve when nobody is within the limits; else such
    /// requests are rejected with 429. Default false.
    #[serde(default)]
    fallback_on_empty: bool,
    /// What to do with endpoints without a value. Default `neutral`.
    #[serde(default = "limit::neutral")]
    on_missing: OnMissing,
    /// A value older than this is missing, for instance `2s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

/// One limit.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Condition {
    /// What is limited.
    metric: Metric,
    /// The largest value of a kept endpoint, at least 0; of `kv-cache-utilization` a fraction, at most 1.
    max_value: f64,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum Metric {
    /// Requests that this proxy has in flight.
    ActiveRequests,
    /// Requests that the engine is running.
    RunningRequests,
    /// Requests that wait in the engine.
    WaitingQueue,
    /// Used share of the KV cache.
    KvCacheUtilization,
}

impl Plugin for UtilizationFilter {
    const TYPE: &'static str = "utilization-filter";
    const SUMMARY: &'static str = "Keeps endpoints that are within every limit on requests and KV cache; what this proxy sent since the measurement counts.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        if params.conditions.is_empty() {
            invalid.push(Invalid::new("conditions", "[]", "must have at least one condition"));
        }
        let mut limits = Vec::new();
        for (index, Condition { metric, max_value }) in params.conditions.into_iter().enumerate() {
            let path = format!("conditions[{index}].maxValue");
            if !(max_value.is_finite() && max_value >= 0.0) {
                invalid.push(Invalid::new(path, max_value, "must be a number from 0 up"));
                continue;
            }
            if metric == Metric::KvCacheUtilization && max_value > 1.0 {
                invalid.push(Invalid::new(
                    path,
                    max_value,
                    "must be a fraction from 0 to 1, not a percentage",
                ));
                continue;
            }
            let attribute = |name| Quantity::Attribute(AttributeSource::new(name, params.max_age, cx));
            limits.push(Limit {
                quantity: match metric {
                    Metric::ActiveRequests => Quantity::InFlight("active-requests"),
                    Metric::RunningRequests => attribute(well_known::RUNNING_REQUESTS_SIZE),
                    Metric::WaitingQueue => attribute(well_known::WAITING_QUEUE_SIZE),
                    Metric::KvCacheUtilization => attribute(well_known::KV_CACHE_USAGE),
                },
                operator: Operator::LessThanOrEqual,
                limit: max_value,
                on_missing: params.on_missing,
            });
        }
        let fallback_on_empty = params.fallback_on_empty;
        if invalid.is_empty() { Ok(Self { limits, fallback_on_empty }) } else { Err(invalid) }
    }
}

impl Filter for UtilizationFilter {
    fn strength(&self) -> Strength {
        if self.fallback_on_empty { Strength::Soft } else { Strength::Strict }
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        let limit = |limit: &Limit| format!("{} {}", limit.name(), limit.wanted());
        format!("with {}", self.limits.iter().map(limit).collect::<Vec<_>>().join(" and "))
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let columns: Vec<_> = self.limits.iter().map(|limit| limit.column(cx)).collect();
        let judge = |&endpoint: &usize| {
            let verdicts = self
                .limits
                .iter()
                .zip(&columns)
                .map(|(limit, column)| relative(limit.judge(cx, *column, endpoint), limit.limit));
            verdicts.fold(Verdict::Keep, worse)
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        let describe = |limit: &Limit| limit.describe(cx, endpoint);
        self.limits.iter().map(describe).collect::<Vec<_>>().join(", ")
    }
}

/// With the excess as a share of the limit, so that limits in different units compare.
fn relative(verdict: Verdict, limit: f64) -> Verdict {
    match verdict {
        Verdict::Drop { reason, excess } => {
            Verdict::Drop { reason, excess: excess.map(|excess| excess / limit.max(f64::EPSILON)) }
        }
        other => other,
    }
}

/// The verdict that says most against the endpoint. Over one limit and unknown in another respect, it is
/// farther than any that is over with all known: not knowing must not bring it nearer.
fn worse(a: Verdict, b: Verdict) -> Verdict {
    use Verdict::{Drop, Keep, Undecided};
    match (a, b) {
        (Drop { reason, .. }, Undecided { .. }) | (Undecided { .. }, Drop { reason, .. }) => {
            Drop { reason, excess: None }
        }
        (Drop { reason, excess: Some(a) }, Drop { excess: Some(b), .. }) if a >= b => {
            Drop { reason, excess: Some(a) }
        }
        (Drop { reason, excess: None }, Drop { .. }) => Drop { reason, excess: None },
        (Keep, other) | (other, Keep) | (Undecided { .. }, other) | (Drop { .. }, other) => other,
    }
}
