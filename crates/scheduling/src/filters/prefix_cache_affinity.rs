//! `prefix-cache-affinity-filter`: keeps the endpoints that have most of the prompt cached, unless they
//! are so loaded that another would answer earlier.
//!
//! An endpoint is sticky when its cached share of the prompt is at least `affinityThreshold`. The time to
//! first token is estimated as the tokens in flight ÷ `peakPrefillThroughput`; if the best sticky
//! endpoint's exceeds the best other's by more than `maxTTFTPenaltyMs`, nobody is left out. Formula and
//! defaults are llm-d's.

use serde::Deserialize;

use crate::{BuildContext, Context, Filter, Invalid, Plugin, PrefixMatch, Reason, Strength, Verdict};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct PrefixCacheAffinityFilter {
    params: Params,
}

/// Parameters of `prefix-cache-affinity-filter`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Cached share of the prompt from which an endpoint is preferred, 0 to 1; 0 prefers nobody.
    /// Default 0.8.
    #[serde(default = "default_threshold")]
    affinity_threshold: f64,
    /// Share of the requests that are not restricted to endpoints with a cached prefix, so that the
    /// cache spreads. 0 to 1. Default 0.
    #[serde(default)]
    exploration_probability: f64,
    /// How much later, in milliseconds, an endpoint with the prefix may answer than one without and still
    /// be preferred; 0 always prefers it. Default 18000.
    #[serde(default = "default_penalty", rename = "maxTTFTPenaltyMs")]
    max_ttft_penalty_ms: f64,
    /// Prompt tokens that an endpoint computes in a second. Default 15928.
    #[serde(default = "default_throughput")]
    peak_prefill_throughput: f64,
}

const fn default_threshold() -> f64 {
    0.8
}

const fn default_penalty() -> f64 {
    18_000.0
}

const fn default_throughput() -> f64 {
    15_928.0
}

impl Plugin for PrefixCacheAffinityFilter {
    const TYPE: &'static str = "prefix-cache-affinity-filter";
    const SUMMARY: &'static str =
        "Keeps the endpoints that have most of the prompt cached, unless they would answer much later.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        for (path, value, met, rule) in [
            (
                "affinityThreshold",
                params.affinity_threshold,
                (0.0..=1.0).contains(&params.affinity_threshold),
                "must be between 0 and 1",
            ),
            (
                "explorationProbability",
                params.exploration_probability,
                (0.0..=1.0).contains(&params.exploration_probability),
                "must be between 0 and 1",
            ),
            (
                "maxTTFTPenaltyMs",
                params.max_ttft_penalty_ms,
                params.max_ttft_penalty_ms >= 0.0,
                "must be a number from 0 up",
            ),
            (
                "peakPrefillThroughput",
                params.peak_prefill_throughput,
                params.peak_prefill_throughput > 0.0,
                "must be above 0",
            ),
        ] {
            if !met {
                invalid.push(Invalid::new(path, value, rule));
            }
        }
        if invalid.is_empty() { Ok(Self { params }) } else { Err(invalid) }
    }
}

/// Tells the draw for exploration from other draws of a decision.
const EXPLORE: u64 = 0x0065_7870_6c6f_7265;

impl PrefixCacheAffinityFilter {
    fn is_sticky(&self, ratio: f64) -> bool {
        ratio >= self.params.affinity_threshold
    }

    /// Estimated time to first token in milliseconds; tokens that nobody counts are none.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn ttft_ms(&self, cx: &Context<'_>, endpoint: usize) -> f64 {
        let tokens = cx.local.load.tokens(endpoint).unwrap_or(0) as f64;
        tokens / self.params.peak_prefill_throughput * 1e3
    }

    /// Whether the endpoints without the prefix would answer so much earlier that the prefix does not
    /// count.
    fn too_late(&self, cx: &Context<'_>, candidates: &[usize], ratios: &[f64]) -> bool {
        let earliest = |sticky: bool| {
            let of_kind =
                candidates.iter().zip(ratios).filter(|(_, ratio)| self.is_sticky(**ratio) == sticky);
            of_kind.map(|(endpoint, _)| self.ttft_ms(cx, *endpoint)).fold(f64::INFINITY, f64::min)
        };
        let penalty = self.params.max_ttft_penalty_ms;
        penalty > 0.0 && earliest(true) - earliest(false) > penalty
    }
}

impl Filter for PrefixCacheAffinityFilter {
    fn strength(&self) -> Strength {
        Strength::Soft
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        format!("with {} of the prompt cached", self.params.affinity_threshold)
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let ratio =
            |&endpoint: &usize| cx.local.prefix.matched(endpoint).as_ref().map_or(0.0, PrefixMatch::ratio);
        let ratios: Vec<f64> = candidates.iter().map(ratio).collect();
        let unrestricted = self.params.affinity_threshold <= 0.0
            || candidates.len() <= 1
            || !ratios.iter().any(|ratio| self.is_sticky(*ratio))
            || cx.rng(EXPLORE).f64() < self.params.exploration_probability
            || self.too_late(cx, candidates, &ratios);
        let verdict = |ratio: f64| {
            if unrestricted || self.is_sticky(ratio) {
                return Verdict::Keep;
            }
            let why = "less of the prompt is cached than elsewhere";
            Verdict::Drop { reason: Reason::NotPreferred { why }, excess: Some(1.0 - ratio) }
        };
        ratios.into_iter().map(verdict).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        match cx.local.prefix.matched(endpoint) {
            Some(PrefixMatch { matched_blocks, total_blocks, .. }) => {
                format!("{matched_blocks} of {total_blocks} blocks cached")
            }
            None => "nothing known of its cache".to_owned(),
        }
    }
}
