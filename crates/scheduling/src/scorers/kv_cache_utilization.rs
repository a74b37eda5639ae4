//! `kv-cache-utilization-scorer`: 1 − the used share of the KV cache (llm-d's formula).

use headroom_datalayer::well_known;

use super::range::{Direction, Range};
use super::reported::{Params, Reported};
use crate::{AttributeSource, BuildContext, Context, Invalid, Opinion, Plugin, Scorer};

/// See the module.
#[derive(Clone, Debug)]
pub struct KvCacheUtilizationScorer(Reported);

impl Plugin for KvCacheUtilizationScorer {
    const TYPE: &'static str = "kv-cache-utilization-scorer";
    const SUMMARY: &'static str = "The more of the KV cache is free, the better.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self(Reported {
            source: AttributeSource::new(well_known::KV_CACHE_USAGE, params.max_age, cx),
            on_missing: params.on_missing,
            range: Range::Fixed { min: 0.0, max: 1.0 },
            direction: Direction::LowerIsBetter,
        }))
    }
}

impl Scorer for KvCacheUtilizationScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        self.0.score(cx, candidates)
    }
}
