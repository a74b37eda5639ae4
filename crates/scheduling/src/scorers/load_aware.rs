//! `load-aware-scorer`: 0.5 for an empty queue, falling to 0 at `threshold` waiting requests (llm-d's
//! formula: 0.5 × (1 − min(w, T) ÷ T)).

use headroom_datalayer::{SpanText, well_known};
use serde::Deserialize;

use super::reported::{default_on_missing, read};
use crate::{
    AttributeSource, BuildContext, Context, Invalid, OnMissing, Opinion, Plugin, Score, Scorer, scorer,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct LoadAwareScorer {
    source: AttributeSource,
    threshold: f64,
    on_missing: OnMissing,
}

/// Parameters of `load-aware-scorer`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Waiting requests from which an endpoint scores 0; at least 1. Default 128.
    #[serde(default = "default_threshold")]
    threshold: u32,
    /// What endpoints without a fresh value score. Default `worst`.
    #[serde(default = "default_on_missing")]
    on_missing: OnMissing,
    /// A value older than this is missing, for instance `2s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

const fn default_threshold() -> u32 {
    128
}

impl Plugin for LoadAwareScorer {
    const TYPE: &'static str = "load-aware-scorer";
    const SUMMARY: &'static str =
        "Fewer waiting requests are better, against a fixed number; scores lie between 0 and 0.5.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if params.threshold == 0 {
            return Err(vec![Invalid::new("threshold", 0, "must be at least 1")]);
        }
        Ok(Self {
            source: AttributeSource::new(well_known::WAITING_QUEUE_SIZE, params.max_age, cx),
            threshold: f64::from(params.threshold),
            on_missing: params.on_missing,
        })
    }
}

impl Scorer for LoadAwareScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let score = |waiting: f64| Score::new(0.5 * (1.0 - waiting.min(self.threshold) / self.threshold));
        let readings = read(&self.source, cx, candidates).into_iter();
        let scored = readings.map(|(waiting, input)| (waiting.map(score), input)).collect();
        scorer::complete(scored, self.on_missing)
    }
}
