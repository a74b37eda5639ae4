//! The interface of profile handlers and of the deciders they ask.

use std::fmt;

use crate::{Context, Run};

/// Says which profiles run for a request, one after the other.
pub trait ProfileHandler: fmt::Debug {
    /// The next profile to run, as an index; `None` when there is none left. Profiles that ran before are
    /// in `runs`.
    fn next(&self, cx: &Context<'_>, runs: &[Run]) -> Option<usize>;

    /// Which of the runs chooses the endpoint that the request is sent to; `None` when none did.
    fn primary(&self, runs: &[Run]) -> Option<usize>;

    /// Headers by which the endpoint learns of the other stages: name, and the index in `runs` of the one
    /// whose endpoints it names. The proxy removes what the client sent under these names.
    fn stage_headers(&self, _runs: &[Run]) -> Vec<StageHeader> {
        Vec::new()
    }

    /// Why no profile runs, in words for the client.
    fn no_profile(&self, _cx: &Context<'_>) -> String {
        "no profile applies".to_owned()
    }

    /// Request headers it reads, in lower case.
    fn headers(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A header that names the endpoint of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageHeader {
    /// The header, in lower case.
    pub name: &'static str,
    /// Index in the runs.
    pub run: usize,
    /// Whether all endpoints of the run's list are named, or its choice alone.
    pub all: bool,
}

/// Says whether a stage of its own is worth it.
pub trait Decider: fmt::Debug {
    /// Whether the stage is to run, for a request whose main stage is on `endpoint`.
    fn wanted(&self, cx: &Context<'_>, endpoint: usize) -> bool;
}
