//! `weighted-random-picker`: each candidate with a probability in proportion to its total.
//!
//! Drawing one after the other without replacement gives the distribution of llm-d's A-Res sampling, and
//! needs no logarithm, whose last bit differs between machines.

use super::{Params, Ranked, by_lot, ranked};
use crate::{BuildContext, Candidate, Context, Invalid, Picker, Plugin};

/// See the module.
#[derive(Clone, Debug)]
pub struct WeightedRandomPicker {
    max_endpoints: usize,
}

impl Plugin for WeightedRandomPicker {
    const TYPE: &'static str = "weighted-random-picker";
    const SUMMARY: &'static str = "Takes an endpoint at random, with a probability in proportion to its total; at plain random when all totals are 0.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self { max_endpoints: params.max_endpoints()? })
    }
}

/// Tells these draws from other draws of a decision.
const DRAW: u64 = 0x6472_6177;

impl Picker for WeightedRandomPicker {
    fn max_endpoints(&self) -> usize {
        self.max_endpoints
    }

    fn pick(&self, cx: &Context<'_>, candidates: &[Candidate]) -> Vec<usize> {
        let mut rng = cx.rng(DRAW);
        let mut left = ranked(cx, candidates);
        left.sort_unstable_by(by_lot);
        let mut order = Vec::new();
        while order.len() < self.max_endpoints && !left.is_empty() {
            let sum: f64 = left.iter().map(|ranked| ranked.total).sum();
            let drawn = draw(&left, rng.f64() * sum);
            order.push(left.remove(drawn).endpoint);
        }
        order
    }
}

/// The entry that `point` falls on when the totals are laid end to end; the first when all are 0, which
/// after sorting by lot is any.
fn draw(left: &[Ranked], mut point: f64) -> usize {
    let mut last = 0;
    for (index, ranked) in left.iter().enumerate().filter(|(_, ranked)| ranked.total > 0.0) {
        if point < ranked.total {
            return index;
        }
        point -= ranked.total;
        last = index;
    }
    last
}
