//! What an engine did since its start.

use std::time::Duration;

use super::{FinishReason, histogram::Histogram, sequence::Sequence};

/// Totals since the engine's start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stats {
    /// Tokens of prompts that were looked up in the prefix cache.
    pub(crate) prefix_queries: u64,
    /// Those that were found.
    pub(crate) prefix_hits: u64,
    /// Tokens of prompts whose first token was produced.
    pub(crate) prompt_tokens: u64,
    /// Tokens that were produced.
    pub(crate) generation_tokens: u64,
    /// How often a request lost its blocks to another one.
    pub(crate) preemptions: u64,
    /// Requests that ended with [`FinishReason::Stop`].
    pub(crate) stopped: u64,
    /// Requests that ended with [`FinishReason::Length`].
    pub(crate) reached_length: u64,
    /// Requests that were cancelled.
    pub(crate) aborted: u64,
    /// From arrival to the first token.
    pub(crate) time_to_first_token: Histogram,
}

impl Stats {
    /// Requests that were served to their end.
    pub(crate) fn served(&self) -> u64 {
        self.stopped + self.reached_length
    }

    pub(super) fn token(&mut self, sequence: &Sequence, at: Duration) {
        self.generation_tokens += 1;
        if sequence.produced() == 1 {
            self.prompt_tokens += sequence.prompt_len() as u64;
            self.time_to_first_token.observe(at.saturating_sub(sequence.arrival).as_secs_f64());
        }
        if sequence.is_done() {
            match sequence.finish {
                FinishReason::Stop => self.stopped += 1,
                FinishReason::Length => self.reached_length += 1,
            }
        }
    }
}
