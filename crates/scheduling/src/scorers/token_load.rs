//! `token-load-scorer`: 1 − min(t, T) ÷ T, where t is the tokens that the endpoint has to compute for the
//! requests this proxy has in flight and for the request at hand (llm-d's formula).

use serde::Deserialize;

use crate::{BuildContext, Context, Input, Invalid, Opinion, Plugin, PrefixMatch, Score, Scorer};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct TokenLoadScorer {
    threshold: u64,
}

/// Parameters of `token-load-scorer`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Tokens from which an endpoint scores 0; at least 1. Default 4194304.
    #[serde(default = "default_threshold")]
    queue_threshold_tokens: u64,
}

const fn default_threshold() -> u64 {
    4_194_304
}

impl Plugin for TokenLoadScorer {
    const TYPE: &'static str = "token-load-scorer";
    const SUMMARY: &'static str =
        "Fewer prompt tokens to compute are better: those in flight from this proxy and the request's own.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if params.queue_threshold_tokens == 0 {
            return Err(vec![Invalid::new("queueThresholdTokens", 0, "must be at least 1")]);
        }
        Ok(Self { threshold: params.queue_threshold_tokens })
    }
}

impl Scorer for TokenLoadScorer {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let prompt = cx.request.input_tokens.unwrap_or(0);
        let score = |&endpoint: &usize| {
            let cached = cx.local.prefix.matched(endpoint).as_ref().map_or(0, PrefixMatch::tokens);
            let in_flight = cx.local.load.tokens(endpoint).unwrap_or(0);
            let tokens = in_flight.saturating_add(prompt.saturating_sub(cached));
            let score = 1.0 - tokens.min(self.threshold) as f64 / self.threshold as f64;
            Opinion { score: Score::new(score), input: Input::Counted(tokens as f64) }
        };
        candidates.iter().map(score).collect()
    }
}
