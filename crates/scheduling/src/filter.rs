//! The interface of filters.

use std::fmt;

use headroom_datalayer::Span;

use crate::{Context, Effect, Picked, Unmeasured};

/// What happens when a filter would leave nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Capability: nobody it excludes may serve; the request is rejected as not servable (503).
    Hard,
    /// Availability: nobody it excludes can serve now; the request is rejected as not servable (503).
    Health,
    /// Load without fallback: nobody it excludes may serve now; the request is rejected as
    /// saturated (429).
    Strict,
    /// Load with fallback: the least bad of those it excluded serve.
    Soft,
}

/// Why an endpoint was excluded.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Its labels do not match.
    Labels {
        /// The requirement that failed first, as written.
        requirement: String,
    },
    /// Its value does not meet the limit.
    Limit {
        /// The attribute as the config spells it.
        attribute: String,
        /// The endpoint's value in the config's unit, `sent_since` included.
        value: f64,
        /// Requests that this proxy sent since the value was measured, and counted into it.
        sent_since: u32,
        /// What was asked, for instance `<= 90`.
        wanted: String,
        /// How old the value is; `None` for what this proxy counts itself.
        age: Option<Span>,
    },
    /// It has no value and the filter excludes those.
    Unmeasured {
        /// The attribute as the config spells it.
        attribute: String,
        /// Why there is none.
        why: Unmeasured,
    },
    /// It does not serve the model.
    Model {
        /// What the request asks for.
        model: String,
    },
    /// It cannot serve now.
    Unavailable {
        /// In what way, completes "it …".
        how: String,
    },
    /// It could serve, and another one is preferred.
    NotPreferred {
        /// Why the other one is.
        why: &'static str,
    },
}

/// What a filter says of one endpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It meets the condition.
    Keep,
    /// Nothing is known against it, and nothing for it ([`OnMissing::Neutral`](crate::OnMissing::Neutral)).
    Undecided {
        /// The attribute as the config spells it.
        attribute: String,
        /// Why it has no value.
        why: Unmeasured,
    },
    /// It does not meet the condition.
    Drop {
        /// Why.
        reason: Reason,
        /// How far from meeting it, in the filter's own unit; `None` is farther than any number.
        /// Only compared within one filter.
        excess: Option<f64>,
    },
}

/// Says who may (hard) or should (soft) serve.
pub trait Filter: fmt::Debug {
    /// What happens when nobody is left.
    fn strength(&self) -> Strength;

    /// The condition in words, for rejections: completes "no endpoint …".
    fn constraint(&self, cx: &Context<'_>) -> String;

    /// Judges the candidates, one verdict each, in order. A filter that is not soft judges each endpoint
    /// by itself: who else is a candidate does not matter.
    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict>;

    /// What the endpoint has that the condition is about, in words: why it may serve.
    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String;

    /// Request headers it reads, in lower case.
    fn headers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it asks which endpoints' requests fail, so that the proxy counts them.
    fn watches_failures(&self) -> bool {
        false
    }

    /// What is to be remembered or sent once an endpoint is chosen.
    fn effects(&self, _cx: &Context<'_>, _picked: &Picked<'_>) -> Vec<Effect> {
        Vec::new()
    }
}
