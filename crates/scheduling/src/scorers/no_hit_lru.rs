//! `no-hit-lru-scorer`: spreads requests without any cached prefix over the endpoints that got such a
//! request longest ago (llm-d's formula).
//!
//! If any candidate has a part of the prompt cached, all score 0.5. Else the endpoints that never got such a
//! request come first, 1 − i ÷ (n − 1) for the i-th of them by address; then the others by how long ago
//! theirs is: max(0, 1 − (never used + position) ÷ (n − 1)).

use serde::Deserialize;

use super::prefix_cache::is_cold;
use crate::{BuildContext, Context, Effect, Input, Invalid, Opinion, Picked, Plugin, Score, Scorer};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct NoHitLruScorer {
    lru_size: usize,
}

/// Parameters of `no-hit-lru-scorer`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// How many endpoints are remembered, at least 1. Default 1024.
    #[serde(default = "default_size")]
    lru_size: usize,
}

const fn default_size() -> usize {
    1_024
}

impl Plugin for NoHitLruScorer {
    const TYPE: &'static str = "no-hit-lru-scorer";
    const SUMMARY: &'static str =
        "Spreads requests without a cached prefix: the endpoint that got one longest ago scores best.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if params.lru_size == 0 {
            return Err(vec![Invalid::new("lruSize", 0, "must be at least 1")]);
        }
        Ok(Self { lru_size: params.lru_size })
    }
}

/// The profile whose endpoint computes the prompt where that is a stage of its own.
const PREFILL: &str = "prefill";

impl Scorer for NoHitLruScorer {
    #[expect(clippy::cast_precision_loss, reason = "a pool has thousands of endpoints at most")]
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        if !is_cold(cx, candidates.iter().copied()) {
            let opinion = Opinion { score: Score::new(0.5), input: Input::Said("some prefix is cached") };
            return vec![opinion; candidates.len()];
        }
        let pool = cx.snapshot.endpoints().len();
        let address = |endpoint: usize| cx.endpoint(endpoint).map(|endpoint| &endpoint.address);
        let mut used: Vec<_> = (0..pool)
            .filter_map(|endpoint| Some((cx.local.cold_picks.last(endpoint)?, address(endpoint)?, endpoint)))
            .collect();
        used.sort_unstable();
        used.drain(..used.len().saturating_sub(self.lru_size));
        let mut position: Vec<Option<usize>> = vec![None; pool];
        for (at, (.., endpoint)) in used.iter().enumerate() {
            if let Some(slot) = position.get_mut(*endpoint) {
                *slot = Some(at);
            }
        }
        let position = |endpoint: usize| position.get(endpoint).copied().flatten();
        let mut never: Vec<usize> =
            candidates.iter().copied().filter(|endpoint| position(*endpoint).is_none()).collect();
        never.sort_unstable_by(|a, b| address(*a).cmp(&address(*b)));
        let mut rank: Vec<usize> = vec![0; pool];
        for (at, endpoint) in never.iter().enumerate() {
            if let Some(slot) = rank.get_mut(*endpoint) {
                *slot = at;
            }
        }
        let last = candidates.len().saturating_sub(1).max(1) as f64;
        let score = |&endpoint: &usize| {
            let (place, said) = match position(endpoint) {
                None => (rank.get(endpoint).copied().unwrap_or_default(), "never used for a cold request"),
                Some(at) => (never.len() + at, "used for a cold request"),
            };
            Opinion { score: Score::new(1.0 - place as f64 / last), input: Input::Said(said) }
        };
        candidates.iter().map(score).collect()
    }

    fn effects(&self, cx: &Context<'_>, picked: &Picked<'_>) -> Vec<Effect> {
        let computes = picked.primary || picked.profile == PREFILL;
        let pool = 0..cx.snapshot.endpoints().len();
        if !computes || !is_cold(cx, pool.into_iter().filter(|endpoint| (picked.could_serve)(*endpoint))) {
            return Vec::new();
        }
        let chosen = cx.endpoint(picked.choice);
        chosen.map(|endpoint| Effect::ColdPick { address: endpoint.address.clone() }).into_iter().collect()
    }
}
