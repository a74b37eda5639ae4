//! Everything a decision may depend on.

use std::fmt;

use headroom_datalayer::{Endpoint, Snapshot, Timestamp};

use crate::{Local, Request};

/// The input of one decision. One request sees one snapshot.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The request to place.
    pub request: &'a Request,
    /// The pool's state.
    pub snapshot: &'a Snapshot,
    /// What this proxy knows itself.
    pub local: Local<'a>,
    /// The endpoint that an earlier profile of the same request chose, if one did: who should be near it.
    pub peer: Option<usize>,
    /// The time, on the clock of the snapshot's samples.
    pub now: Timestamp,
    /// All chance of the decision: the same seed gives the same decision.
    pub seed: u64,
}

impl Context<'_> {
    /// A label of an endpoint.
    pub fn label(&self, endpoint: usize, key: &str) -> Option<&str> {
        self.endpoint(endpoint)?.labels.get(key).map(String::as_str)
    }

    /// An endpoint's identity.
    pub fn endpoint(&self, endpoint: usize) -> Option<&Endpoint> {
        self.snapshot.endpoints().get(endpoint)
    }

    /// A number that differs from decision to decision, and within one is a function of the endpoint's
    /// address alone: the order in which endpoints are listed never decides.
    pub fn lot(&self, endpoint: usize) -> u64 {
        mix(self.snapshot.fingerprint(endpoint) ^ self.seed)
    }

    /// A generator whose draws depend on the seed and on `purpose`.
    pub(crate) fn rng(&self, purpose: u64) -> fastrand::Rng {
        fastrand::Rng::with_seed(mix(self.seed ^ purpose))
    }
}

/// The finalizer of MurmurHash3: every bit of the input reaches every bit of the output.
const fn mix(mut bits: u64) -> u64 {
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("request", self.request)
            .field("snapshot", &self.snapshot.version())
            .field("now", &self.now)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
