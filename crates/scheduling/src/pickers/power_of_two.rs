//! `power-of-two-picker`: the better of two candidates drawn at random.
//!
//! When many proxies decide on the same slightly old values, the best endpoint of all is everybody's
//! choice; the better of two is not.

use super::{Params, best_first, by_lot, endpoints, ranked, top};
use crate::{BuildContext, Candidate, Context, Invalid, Picker, Plugin};

/// See the module.
#[derive(Clone, Debug)]
pub struct PowerOfTwoPicker {
    max_endpoints: usize,
}

impl Plugin for PowerOfTwoPicker {
    const TYPE: &'static str = "power-of-two-picker";
    const SUMMARY: &'static str = "Draws two endpoints at random and takes the one with the higher total; the best of the others follow for retries.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self { max_endpoints: params.max_endpoints()? })
    }
}

impl Picker for PowerOfTwoPicker {
    fn max_endpoints(&self) -> usize {
        self.max_endpoints
    }

    fn pick(&self, cx: &Context<'_>, candidates: &[Candidate]) -> Vec<usize> {
        let mut pair = top(ranked(cx, candidates), 2, by_lot);
        pair.sort_unstable_by(best_first);
        let Some(winner) = pair.first().map(|ranked| ranked.endpoint) else { return Vec::new() };
        let mut order = vec![winner];
        let mut others = ranked(cx, candidates);
        others.retain(|ranked| ranked.endpoint != winner);
        order.extend(endpoints(top(others, self.max_endpoints, best_first)));
        order.truncate(self.max_endpoints);
        order
    }
}
