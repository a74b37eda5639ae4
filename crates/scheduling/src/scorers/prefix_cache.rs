//! `prefix-cache-scorer`: how much of the prompt the endpoint has cached.
//!
//! w × min(1, cached tokens ÷ `matchLengthScaleTokens`)² + (1 − w) × cached share (llm-d's formula).

use serde::Deserialize;

use crate::{BuildContext, Context, Input, Invalid, Opinion, Plugin, PrefixMatch, Score, Scorer};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct PrefixCacheScorer {
    weight: f64,
    scale: f64,
}

/// Parameters of `prefix-cache-scorer`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// How much the length of the cached prefix counts against its share of the prompt, 0 to 1.
    /// Default 0.
    #[serde(default)]
    match_length_weight: f64,
    /// Cached tokens at which the length scores fully; at least 1. Default 8192.
    #[serde(default = "default_scale")]
    match_length_scale_tokens: u32,
}

const fn default_scale() -> u32 {
    8_192
}

impl Plugin for PrefixCacheScorer {
    const TYPE: &'static str = "prefix-cache-scorer";
    const SUMMARY: &'static str = "The more of the prompt is in the endpoint's prefix cache, the better.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        if !(0.0..=1.0).contains(&params.match_length_weight) {
            let value = params.match_length_weight;
            invalid.push(Invalid::new("matchLengthWeight", value, "must be between 0 and 1"));
        }
        if params.match_length_scale_tokens == 0 {
            invalid.push(Invalid::new("matchLengthScaleTokens", 0, "must be at least 1"));
        }
        let scale = f64::from(params.match_length_scale_tokens);
        if invalid.is_empty() { Ok(Self { weight: params.match_length_weight, scale }) } else { Err(invalid) }
    }
}

impl Scorer for PrefixCacheScorer {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let score = |&endpoint: &usize| match cx.local.prefix.matched(endpoint) {
            None => Opinion { score: Score::WORST, input: Input::Said("nothing known of its cache") },
            Some(matched) => {
                let length = (matched.tokens() as f64 / self.scale).min(1.0);
                let score = self.weight * length * length + (1.0 - self.weight) * matched.ratio();
                let blocks = f64::from(matched.matched_blocks);
                Opinion { score: Score::new(score), input: Input::Counted(blocks) }
            }
        };
        candidates.iter().map(score).collect()
    }
}

/// Whether no candidate has anything of the prompt cached.
pub(super) fn is_cold(cx: &Context<'_>, mut endpoints: impl Iterator<Item = usize>) -> bool {
    let warm = |matched: PrefixMatch| matched.matched_blocks > 0;
    !endpoints.any(|endpoint| cx.local.prefix.matched(endpoint).is_some_and(warm))
}
