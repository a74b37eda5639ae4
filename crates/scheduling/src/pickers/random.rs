//! `random-picker`: any candidate, whatever its score.

use super::{Params, by_lot, endpoints, ranked, top};
use crate::{BuildContext, Candidate, Context, Invalid, Picker, Plugin};

/// See the module.
#[derive(Clone, Debug)]
pub struct RandomPicker {
    max_endpoints: usize,
}

impl Plugin for RandomPicker {
    const TYPE: &'static str = "random-picker";
    const SUMMARY: &'static str = "Takes any endpoint that the filters left, whatever its score.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self { max_endpoints: params.max_endpoints()? })
    }
}

impl Picker for RandomPicker {
    fn max_endpoints(&self) -> usize {
        self.max_endpoints
    }

    fn pick(&self, cx: &Context<'_>, candidates: &[Candidate]) -> Vec<usize> {
        endpoints(top(ranked(cx, candidates), self.max_endpoints, by_lot))
    }
}
