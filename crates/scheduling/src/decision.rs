//! What was decided, and everything it was based on. Endpoints are indices into the snapshot.

use headroom_datalayer::Span;

use crate::{Opinion, Reason, Unmeasured};

/// An endpoint that a filter left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Excluded {
    /// Index in the snapshot.
    pub endpoint: usize,
    /// Index of the filter in the profile.
    pub filter: usize,
    /// Why.
    pub reason: Reason,
    /// See [`Verdict::Drop`](crate::Verdict::Drop).
    pub excess: Option<f64>,
}

/// An endpoint that a filter could not judge and let pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// Index in the snapshot.
    pub endpoint: usize,
    /// Index of the filter in the profile.
    pub filter: usize,
    /// The attribute that has no value.
    pub attribute: String,
    /// Why it has none.
    pub why: Unmeasured,
}

/// Where a decision departs from the filters and the scores.
#[derive(Clone, Debug, PartialEq)]
pub enum Fallback {
    /// It excluded everybody, and the least bad of those were taken back.
    LeastBad {
        /// Index of the filter in the profile.
        filter: usize,
        /// Who was taken back.
        kept: Vec<usize>,
    },
    /// No candidate had a value to judge by, so it did not apply.
    MetricsMissing {
        /// Index of the filter in the profile.
        filter: usize,
    },
    /// Something cannot be believed of an endpoint that answers the companion, and no request of ours is
    /// there: this one goes there, so that something becomes known.
    Probe {
        /// Which.
        endpoint: usize,
        /// What cannot be believed.
        finding: Finding,
    },
}

/// What cannot be believed of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A scorer has no value of it.
    Unmeasured {
        /// Index of the scorer in the profile.
        scorer: usize,
        /// Why.
        why: Unmeasured,
    },
    /// It reports requests, and this proxy has none there: they are another gateway's, or the report is
    /// frozen.
    LoadWithoutRequests {
        /// Index of the scorer in the profile.
        scorer: usize,
        /// How many it reports.
        requests: f64,
    },
}

/// An endpoint that passed the filters.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Index in the snapshot.
    pub endpoint: usize,
    /// Sum of weight × score.
    pub total: f64,
    /// One a scorer, in the profile's order.
    pub opinions: Vec<Opinion>,
}

/// Why nobody can serve a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The pool is empty.
    NoEndpoints,
    /// A hard filter left nobody.
    NoneCapable {
        /// Index of the filter in the profile.
        filter: usize,
    },
    /// Nobody of those who may serve can.
    NoneAvailable {
        /// Index of the filter in the profile.
        filter: usize,
    },
    /// A load filter without fallback left nobody.
    Saturated {
        /// Index of the filter in the profile.
        filter: usize,
    },
}

/// The result of running a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The choice first, then where to retry; or why there is none.
    pub outcome: Result<Vec<usize>, Rejection>,
    /// Who was left out, by which filter and why, in the order it happened.
    pub excluded: Vec<Excluded>,
    /// Who passed a filter only because there was nothing to judge by.
    pub undecided: Vec<Undecided>,
    /// Filters that could not be kept to.
    pub fallbacks: Vec<Fallback>,
    /// Who was scored.
    pub candidates: Vec<Candidate>,
    /// The snapshot's version.
    pub snapshot_version: u64,
    /// The snapshot's age.
    pub snapshot_age: Span,
}

impl Decision {
    /// The endpoint that should serve.
    pub fn choice(&self) -> Option<usize> {
        self.outcome.as_ref().ok()?.first().copied()
    }
}
