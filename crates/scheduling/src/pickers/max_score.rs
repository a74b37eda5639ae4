//! `max-score-picker`: the highest total wins, ties at random.

use super::{Params, best_first, endpoints, ranked, top};
use crate::{BuildContext, Candidate, Context, Invalid, Picker, Plugin};

/// See the module.
#[derive(Clone, Debug)]
pub struct MaxScorePicker {
    max_endpoints: usize,
}

impl Default for MaxScorePicker {
    fn default() -> Self {
        Self { max_endpoints: super::default_max_endpoints() }
    }
}

impl Plugin for MaxScorePicker {
    const TYPE: &'static str = "max-score-picker";
    const SUMMARY: &'static str =
        "Takes the endpoint with the highest total; equal totals are decided at random.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self { max_endpoints: params.max_endpoints()? })
    }
}

impl Picker for MaxScorePicker {
    fn max_endpoints(&self) -> usize {
        self.max_endpoints
    }

    fn pick(&self, cx: &Context<'_>, candidates: &[Candidate]) -> Vec<usize> {
        endpoints(top(ranked(cx, candidates), self.max_endpoints, best_first))
    }
}
