//! `running-requests-size-scorer`: (max − r) ÷ (max − min) over the candidates' running requests (llm-d's formula).

use headroom_datalayer::well_known;

use super::reported::{Params, Reported};
use crate::{BuildContext, Context, Invalid, Opinion, Plugin, Scorer};

/// See the module.
#[derive(Clone, Debug)]
pub struct RunningRequestsSizeScorer(Reported);

impl Plugin for RunningRequestsSizeScorer {
    const TYPE: &'static str = "running-requests-size-scorer";
    const SUMMARY: &'static str = "Fewer running requests are better, relative to the other candidates; what this proxy sent since the measurement counts as running.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self(Reported::requests(well_known::RUNNING_REQUESTS_SIZE, params, cx)))
    }
}

impl Scorer for RunningRequestsSizeScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        self.0.score(cx, candidates)
    }
}
