//! The interface of filters.

use std::fmt;

use headroom_datalayer::Span;

use crate::{Context, Unmeasured};

/// What happens when a filter would leave nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Capability: nobody it excludes may serve; the request is rejected as not servable (503).
    Hard,
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
        /// The endpoint's value in the config's unit.
        value: f64,
        /// What was asked, for instance `<= 90`.
        wanted: String,
        /// How old the value is.
        age: Span,
    },
    /// It has no value and the filter excludes those.
    Unmeasured {
        /// The attribute as the config spells it.
        attribute: String,
        /// Why there is none.
        why: Unmeasured,
    },
}

/// What a filter says of one endpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It meets the condition.
    Keep,
    /// Nothing is known against it, and nothing for it ([`OnMissing::Neutral`](crate::OnMissing::Neutral)).
    Undecided(Unmeasured),
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
    fn constraint(&self) -> String;

    /// Judges the candidates, one verdict each, in order.
    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict>;
}
