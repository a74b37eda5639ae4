//! The interface of scorers.

use std::fmt;

use headroom_datalayer::Span;

use crate::{Context, Effect, OnMissing, Picked, Score, Unmeasured};

/// What a score was made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// A measured number, and what this proxy has sent since it was measured.
    Measured {
        /// In the unit of the config, without `sent_since`.
        value: f64,
        /// Requests added to it.
        sent_since: u32,
        /// How old the measured part is.
        age: Span,
        /// Whether it is a number of requests.
        counts_requests: bool,
    },
    /// A number that this proxy counts itself.
    Counted(f64),
    /// A fact that is no number.
    Said(&'static str),
    /// There was no value; the score is what the plugin gives then.
    Unmeasured(Unmeasured),
}

/// What a scorer says of one endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opinion {
    /// Higher is better.
    pub score: Score,
    /// What it was made from.
    pub input: Input,
}

/// Says how good each candidate is in one respect.
pub trait Scorer: fmt::Debug {
    /// Scores the candidates, one opinion each, in order.
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion>;

    /// Request headers it reads, in lower case.
    fn headers(&self) -> Vec<String> {
        Vec::new()
    }

    /// What is to be remembered or sent once an endpoint is chosen.
    fn effects(&self, _cx: &Context<'_>, _picked: &Picked<'_>) -> Vec<Effect> {
        Vec::new()
    }
}

/// Fills in the scores of endpoints without a value. `scored` has a score only where `inputs` has one.
pub(crate) fn complete(scored: Vec<(Option<Score>, Input)>, on_missing: OnMissing) -> Vec<Opinion> {
    let substitute = match on_missing {
        OnMissing::Exclude | OnMissing::Worst => Score::WORST,
        OnMissing::Pass => Score::BEST,
        OnMissing::Neutral => mean(scored.iter().filter_map(|(score, _)| *score)),
    };
    scored.into_iter().map(|(score, input)| Opinion { score: score.unwrap_or(substitute), input }).collect()
}

/// In whole units, whose sum is exact: that of floats would depend on the order of the endpoints.
fn mean(scores: impl Iterator<Item = Score>) -> Score {
    let (mut units, mut count) = (0_u64, 0_u32);
    for score in scores {
        units = units.saturating_add(score.units());
        count += 1;
    }
    if count == 0 { Score::WORST } else { Score::from_units(units / u64::from(count)) }
}
