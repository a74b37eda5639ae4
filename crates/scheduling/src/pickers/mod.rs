//! Pickers: they put the scored candidates in order, one file each.

use std::fmt;

use crate::{Candidate, Context};

mod max_score;

pub use max_score::MaxScorePicker;

/// Orders the candidates.
pub trait Picker: fmt::Debug {
    /// How many endpoints a decision names: the choice and where to retry.
    fn max_endpoints(&self) -> usize;

    /// The choice first, then the next best; at most [`Picker::max_endpoints`], each at most once,
    /// none but candidates.
    fn pick(&self, cx: &Context<'_>, candidates: &[Candidate], rng: &mut fastrand::Rng) -> Vec<usize>;
}
