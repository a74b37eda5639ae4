//! Which endpoint serves a request, and why.
//!
//! A [`Profile`] is a list of filters, weighted scorers and a picker. [`Profile::run`] takes a
//! [`Context`] (the request, one snapshot of the pool, the load this proxy has put on it, the time)
//! and returns a [`Decision`] that holds everything it was based on.
//!
//! * *Hard* filters say who may serve: what they exclude stays excluded, and when nobody is left the
//!   request is rejected with the constraint's name.
//! * *Soft* filters say who should not serve now: when nobody else is left, the least bad of those
//!   that they excluded serve, and the decision says so.
//! * Scorers give each remaining endpoint a [`Score`] in [0, 1]; the weighted sum decides.
//!
//! A missing or stale value is never read as zero; each plugin says what it does instead
//! ([`OnMissing`]). Nothing here fails, blocks, logs or asks for the time: the same input gives the
//! same decision, natively and in wasm.

mod context;
mod decision;
mod explanation;
mod filter;
pub mod filters;
mod label_selector;
mod load;
pub mod pickers;
mod plugin;
mod profile;
mod reading;
mod request;
mod score;
mod scorer;
pub mod scorers;
mod words;

pub use context::Context;
pub use decision::{Candidate, Decision, Excluded, Fallback, Rejection, Undecided};
pub use explanation::{Explanation, Outcome};
pub use filter::{Filter, Reason, Strength, Verdict};
pub use label_selector::{InvalidSelector, LabelSelector};
pub use load::{InflightLoad, NoLoad};
pub use pickers::Picker;
pub use plugin::{BuildContext, Invalid, Plugin};
pub use profile::{NamedFilter, NamedScorer, Profile};
pub use reading::{AttributeSource, Measured, OnMissing, Unmeasured};
pub use request::Request;
pub use score::Score;
pub use scorer::{Input, Opinion, Scorer};

#[cfg(test)]
mod testing;
