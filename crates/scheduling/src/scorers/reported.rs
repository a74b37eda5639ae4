//! Reported numbers of requests, corrected by what this proxy has sent since they were measured.
//!
//! Between two scrapes a router that trusts the last report sends every request to the same
//! endpoint. A request that was sent after the measurement and has not ended is not in the report,
//! so it is added.

use headroom_datalayer::SpanText;
use serde::Deserialize;

use super::range::{Direction, Range, place};
use crate::{AttributeSource, BuildContext, Context, Input, OnMissing, Opinion, scorer};

/// Parameters of scorers on a reported attribute.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// What endpoints without a fresh value score. Default `worst`.
    #[serde(default = "default_on_missing")]
    pub(super) on_missing: OnMissing,
    /// A value older than this is missing, for instance `2s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(super) max_age: Option<SpanText>,
}

pub(super) const fn default_on_missing() -> OnMissing {
    OnMissing::Worst
}

/// A reported attribute and how it becomes a score.
#[derive(Clone, Debug)]
pub(super) struct Reported {
    pub(super) source: AttributeSource,
    pub(super) on_missing: OnMissing,
    pub(super) range: Range,
    pub(super) direction: Direction,
    /// Whether the attribute is a number of requests, to which those sent since are added.
    pub(super) counts_requests: bool,
}

impl Reported {
    /// A number of requests; fewer are better, relative to the other candidates.
    pub(super) fn requests(attribute: &str, params: Params, cx: &BuildContext<'_>) -> Self {
        Self {
            source: AttributeSource::new(attribute, params.max_age, cx),
            on_missing: params.on_missing,
            range: Range::Adaptive,
            direction: Direction::LowerIsBetter,
            counts_requests: true,
        }
    }

    pub(super) fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let column = self.source.column(cx.snapshot);
        let inputs: Vec<Input> = candidates
            .iter()
            .map(|&endpoint| match self.source.read(cx, column, endpoint) {
                Ok(measured) => {
                    let sent_since = if self.counts_requests {
                        cx.load.requests_since(endpoint, measured.measured_at)
                    } else {
                        0
                    };
                    Input::Measured { value: measured.value, sent_since, age: measured.age }
                }
                Err(why) => Input::Unmeasured(why),
            })
            .collect();
        let values: Vec<Option<f64>> = inputs
            .iter()
            .map(|input| match input {
                Input::Measured { value, sent_since, .. } => Some(value + f64::from(*sent_since)),
                Input::Counted(_) | Input::Unmeasured(_) => None,
            })
            .collect();
        let scored = place(&values, self.range, self.direction).into_iter().zip(inputs).collect();
        scorer::complete(scored, self.on_missing)
    }
}
