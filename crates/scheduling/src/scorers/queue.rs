//! `queue-scorer`: (max − q) ÷ (max − min) over the candidates' queues (llm-d's formula).

use headroom_datalayer::well_known;

use super::reported::{Params, Reported};
use crate::{BuildContext, Context, Invalid, Opinion, Plugin, Scorer};

/// See the module.
#[derive(Clone, Debug)]
pub struct QueueScorer(Reported);

impl Plugin for QueueScorer {
    const TYPE: &'static str = "queue-scorer";
    const SUMMARY: &'static str = "Fewer waiting requests are better, relative to the other candidates; what this proxy sent since the measurement counts as waiting.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self(Reported::requests(well_known::WAITING_QUEUE_SIZE, params, cx)))
    }
}

impl Scorer for QueueScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        self.0.score(cx, candidates)
    }
}
