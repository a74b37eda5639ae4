//! `active-request-scorer`: requests that this proxy has in flight on each endpoint.
//!
//! At most `idleThreshold` requests score 1; above, (max − n) ÷ max × `maxBusyScore` over the
//! candidates (llm-d's formula).

use serde::Deserialize;

use crate::{BuildContext, Context, Input, Invalid, Opinion, Plugin, Score, Scorer};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct ActiveRequestScorer {
    idle_threshold: u32,
    max_busy_score: f64,
}

/// Parameters of `active-request-scorer`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Up to this many requests an endpoint counts as idle and scores 1. Default 0.
    #[serde(default)]
    idle_threshold: u32,
    /// The best score of an endpoint that is not idle, 0 to 1. Default 1.
    #[serde(default = "default_max_busy_score")]
    max_busy_score: f64,
}

const fn default_max_busy_score() -> f64 {
    1.0
}

impl Plugin for ActiveRequestScorer {
    const TYPE: &'static str = "active-request-scorer";
    const SUMMARY: &'static str =
        "Fewer requests in flight from this proxy are better, relative to the busiest candidate.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if !(0.0..=1.0).contains(&params.max_busy_score) {
            return Err(vec![Invalid::new("maxBusyScore", params.max_busy_score, "must be between 0 and 1")]);
        }
        Ok(Self { idle_threshold: params.idle_threshold, max_busy_score: params.max_busy_score })
    }
}

impl Scorer for ActiveRequestScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let counts: Vec<u32> = candidates.iter().map(|&endpoint| cx.local.load.requests(endpoint)).collect();
        let max = f64::from(counts.iter().copied().max().unwrap_or_default());
        counts
            .into_iter()
            .map(|count| {
                let score = if count <= self.idle_threshold {
                    Score::BEST
                } else {
                    Score::new((max - f64::from(count)) / max * self.max_busy_score)
                };
                Opinion { score, input: Input::Counted(f64::from(count)) }
            })
            .collect()
    }
}
