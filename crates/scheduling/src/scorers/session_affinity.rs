//! `session-affinity-scorer`: 1 for the endpoint that the session is pinned to, 0 for the others.

use crate::session::{Session, SessionParams};
use crate::{BuildContext, Context, Effect, Input, Invalid, Opinion, Picked, Plugin, Score, Scorer};

/// See the module.
#[derive(Clone, Debug)]
pub struct SessionAffinityScorer(Session);

impl Plugin for SessionAffinityScorer {
    const TYPE: &'static str = "session-affinity-scorer";
    const SUMMARY: &'static str = "Prefers the endpoint that the client's session is pinned to.";
    type Params = SessionParams;

    fn build(params: SessionParams, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Session::new(params).map(Self)
    }
}

impl Scorer for SessionAffinityScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let pinned = self.0.pinned(cx);
        let score = |endpoint: &usize| match pinned {
            Some(pinned) if pinned == *endpoint => {
                Opinion { score: Score::BEST, input: Input::Said("pinned here") }
            }
            Some(_) => Opinion { score: Score::WORST, input: Input::Said("pinned elsewhere") },
            None => Opinion { score: Score::WORST, input: Input::Said("not pinned") },
        };
        candidates.iter().map(score).collect()
    }

    fn headers(&self) -> Vec<String> {
        self.0.headers()
    }

    fn effects(&self, cx: &Context<'_>, picked: &Picked<'_>) -> Vec<Effect> {
        self.0.effects(cx, picked)
    }
}
