//! `session-affinity-filter`: keeps the endpoint that the session is pinned to.

use crate::session::{Session, SessionParams};
use crate::{BuildContext, Context, Effect, Filter, Invalid, Picked, Plugin, Reason, Strength, Verdict};

/// See the module.
#[derive(Clone, Debug)]
pub struct SessionAffinityFilter(Session);

impl Plugin for SessionAffinityFilter {
    const TYPE: &'static str = "session-affinity-filter";
    const SUMMARY: &'static str =
        "Keeps only the endpoint that the client's session is pinned to, as long as it may serve.";
    type Params = SessionParams;

    fn build(params: SessionParams, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Session::new(params).map(Self)
    }
}

impl Filter for SessionAffinityFilter {
    fn strength(&self) -> Strength {
        Strength::Soft
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        "that the session is pinned to".to_owned()
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let pinned = self.0.pinned(cx).filter(|endpoint| candidates.contains(endpoint));
        let judge = |endpoint: &usize| match pinned {
            Some(pinned) if pinned != *endpoint => Verdict::Drop {
                reason: Reason::NotPreferred { why: "the session is pinned to another endpoint" },
                excess: None,
            },
            _ => Verdict::Keep,
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        match self.0.pinned(cx) {
            Some(pinned) if pinned == endpoint => "the session is pinned here".to_owned(),
            Some(_) => "the session's endpoint may not serve".to_owned(),
            None => "the session is not pinned".to_owned(),
        }
    }

    fn headers(&self) -> Vec<String> {
        self.0.headers()
    }

    fn effects(&self, cx: &Context<'_>, picked: &Picked<'_>) -> Vec<Effect> {
        self.0.effects(cx, picked)
    }
}
