//! Which endpoint serves a request, and why.
//!
//! A [`Profile`] is a list of filters, weighted scorers and a picker; a [`Scheduler`] has one or more and a
//! [`ProfileHandler`] that says which of them run. [`Scheduler::schedule`] takes a [`Context`] (the request,
//! one snapshot of the pool, what this proxy knows itself, the time, a seed) and returns a [`Schedule`] that
//! holds everything it was based on.
//!
//! * *Hard* filters say who may serve: what they exclude stays excluded, and when nobody is left the
//!   request is rejected with the constraint's name. Health filters do the same for who can serve at all.
//! * *Soft* filters say who should not serve now: when nobody else is left, the least bad of those
//!   that they excluded serve, and the decision says so.
//! * Scorers give each remaining endpoint a [`Score`] in [0, 1]; the weighted sum decides.
//!
//! A missing or stale value is never read as zero; each plugin says what it does instead
//! ([`OnMissing`]). Nothing here fails, blocks, logs or asks for the time: the same input gives the
//! same decision, natively and in wasm.

mod context;
mod context_length;
pub mod deciders;
mod decision;
mod effect;
mod explanation;
mod filter;
pub mod filters;
mod handler;
pub mod handlers;
mod label_selector;
mod limit;
mod local;
pub mod pickers;
mod plugin;
mod profile;
mod reading;
mod request;
mod scheduler;
mod score;
mod scorer;
pub mod scorers;
mod session;

pub use context::Context;
pub use context_length::ContextLengthAware;
pub use decision::{Candidate, Decision, Excluded, Fallback, Finding, Rejection, Undecided};
pub use effect::{Effect, Picked};
pub use explanation::{Detail, Explanation, Outcome as ExplainedOutcome};
pub use filter::{Filter, Reason, Strength, Verdict};
pub use handler::{Decider, ProfileHandler, StageHeader};
pub use label_selector::{InvalidSelector, LabelSelector};
pub use local::{
    ColdPicks, Failing, Failures, InflightLoad, Known, Local, Nothing, PrefixMatch, PrefixMatches, Sessions,
};
pub use pickers::Picker;
pub use plugin::{BuildContext, Invalid, Plugin};
pub use profile::{NamedFilter, NamedScorer, Profile};
pub use reading::{AttributeSource, Measured, OnMissing, Unmeasured};
pub use request::Request;
pub use scheduler::{Outcome, Run, Schedule, Scheduler};
pub use score::Score;
pub use scorer::{Input, Opinion, Scorer};

#[cfg(test)]
mod field_reports;
#[cfg(test)]
mod testing;
