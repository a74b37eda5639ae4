//! Everything a decision may depend on.

use std::fmt;

use headroom_datalayer::{Snapshot, Timestamp};

use crate::{InflightLoad, Request};

/// The input of one decision. One request sees one snapshot.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The request to place.
    pub request: &'a Request,
    /// The pool's state.
    pub snapshot: &'a Snapshot,
    /// What this proxy has sent itself.
    pub load: &'a dyn InflightLoad,
    /// The time, on the clock of the snapshot's samples.
    pub now: Timestamp,
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("request", self.request)
            .field("snapshot", &self.snapshot.version())
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
