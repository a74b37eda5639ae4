//! Pickers: they put the scored candidates in order, one file each.

use std::{cmp::Ordering, fmt};

use serde::Deserialize;

use crate::{Candidate, Context, Invalid};

mod max_score;
mod power_of_two;
mod random;
mod weighted_random;

pub use max_score::MaxScorePicker;
pub use power_of_two::PowerOfTwoPicker;
pub use random::RandomPicker;
pub use weighted_random::WeightedRandomPicker;

/// Orders the candidates.
pub trait Picker: fmt::Debug {
    /// How many endpoints a decision names: the choice and where to retry.
    fn max_endpoints(&self) -> usize;

    /// The choice first, then the next best; at most [`Picker::max_endpoints`], each at most once,
    /// none but candidates. In which order the candidates come does not matter.
    fn pick(&self, cx: &Context<'_>, candidates: &[Candidate]) -> Vec<usize>;
}

/// Parameters of every picker.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Length of the destination list: the choice and where to retry, in order. At least 1 more than
    /// the route's number of retries, so that no attempt leaves the list. 1 to 16, default 4.
    #[serde(default = "default_max_endpoints")]
    max_num_of_endpoints: usize,
}

const fn default_max_endpoints() -> usize {
    4
}

impl Params {
    fn max_endpoints(self) -> Result<usize, Vec<Invalid>> {
        let max_endpoints = self.max_num_of_endpoints;
        if (1..=16).contains(&max_endpoints) {
            Ok(max_endpoints)
        } else {
            Err(vec![Invalid::new("maxNumOfEndpoints", max_endpoints, "must be between 1 and 16")])
        }
    }
}

/// A candidate with the lot that decides between equals.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    total: f64,
    lot: u64,
    endpoint: usize,
}

fn ranked(cx: &Context<'_>, candidates: &[Candidate]) -> Vec<Ranked> {
    let rank = |c: &Candidate| Ranked { total: c.total, lot: cx.lot(c.endpoint), endpoint: c.endpoint };
    candidates.iter().map(rank).collect()
}

fn best_first(a: &Ranked, b: &Ranked) -> Ordering {
    b.total.total_cmp(&a.total).then_with(|| by_lot(a, b))
}

fn by_lot(a: &Ranked, b: &Ranked) -> Ordering {
    a.lot.cmp(&b.lot)
}

/// The first `count` in the given order, sorted.
fn top(mut ranked: Vec<Ranked>, count: usize, order: fn(&Ranked, &Ranked) -> Ordering) -> Vec<Ranked> {
    if count > 0 && ranked.len() > count {
        ranked.select_nth_unstable_by(count - 1, order);
        ranked.truncate(count);
    }
    ranked.sort_unstable_by(order);
    ranked
}

fn endpoints(ranked: Vec<Ranked>) -> Vec<usize> {
    ranked.into_iter().map(|ranked| ranked.endpoint).collect()
}

#[cfg(test)]
mod tests;
