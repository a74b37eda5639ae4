//! Reported numbers of requests, corrected by what this proxy has sent since they were measured.
//!
//! Between two scrapes a router that trusts the last report sends every request to the same
//! endpoint. A request that was sent after the measurement and has not ended is not in the report,
//! so it is added.

use headroom_datalayer::SpanText;
use serde::Deserialize;

use super::range::{Direction, Range, place};
use crate::{AttributeSource, BuildContext, Context, Input, Measured, OnMissing, Opinion, scorer};

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
}

impl Reported {
    /// A number of requests; fewer are better, relative to the other candidates.
    pub(super) fn requests(attribute: &str, params: Params, cx: &BuildContext<'_>) -> Self {
        Self {
            source: AttributeSource::new(attribute, params.max_age, cx),
            on_missing: params.on_missing,
            range: Range::Adaptive,
            direction: Direction::LowerIsBetter,
        }
    }

    pub(super) fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let readings = read(&self.source, cx, candidates);
        let values: Vec<Option<f64>> = readings.iter().map(|(value, _)| *value).collect();
        let inputs = readings.into_iter().map(|(_, input)| input);
        let scored = place(&values, self.range, self.direction).into_iter().zip(inputs).collect();
        scorer::complete(scored, self.on_missing)
    }
}

/// The candidates' values as of this moment, and what they were made from.
pub(super) fn read(
    source: &AttributeSource,
    cx: &Context<'_>,
    candidates: &[usize],
) -> Vec<(Option<f64>, Input)> {
    let column = source.column(cx.snapshot);
    let read = |&endpoint: &usize| match source.read(cx, column, endpoint) {
        Ok(measured) => {
            let Measured { value, sent_since, age } = measured;
            let counts_requests = source.counts_requests;
            (Some(measured.total()), Input::Measured { value, sent_since, age, counts_requests })
        }
        Err(why) => (None, Input::Unmeasured(why)),
    };
    candidates.iter().map(read).collect()
}
