//! What a proxy knows itself of an endpoint, as `headroom explain` reads it.

use headroom_datalayer::{Span, SpanText};
use headroom_scheduling::{Failing, PrefixMatch};
use serde::Deserialize;

use crate::cli::finding::Finding;

/// The age of what was measured just now.
pub(super) const fn no_age() -> SpanText {
    SpanText(Span::ZERO)
}

/// The request's prompt and an endpoint's prefix cache.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Prefix {
    /// Blocks from the start of the prompt that are cached, without a gap.
    matched_blocks: u32,
    /// Blocks of the prompt, at least as many.
    total_blocks: u32,
    /// Tokens in a block. Default 16.
    #[serde(default = "block_tokens")]
    block_tokens: u32,
}

const fn block_tokens() -> u32 {
    16
}

/// Failed requests.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FailingState {
    /// How many in a row, 1 or more.
    failures: u32,
    /// How long ago the last of them failed. Default `0s`.
    #[serde(default = "no_age")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    ago: SpanText,
}

impl Prefix {
    /// As the scheduler takes it, for the endpoint at `path`.
    pub(super) fn compile(self, path: &str, faults: &mut Vec<Finding>) -> PrefixMatch {
        let Self { matched_blocks, total_blocks, block_tokens } = self;
        if matched_blocks > total_blocks {
            let reason = format!("is more than the prompt has: totalBlocks is {total_blocks}");
            faults.push(Finding::error(format!("{path}.prefix.matchedBlocks"), matched_blocks, reason));
        }
        if block_tokens == 0 {
            faults.push(Finding::error(format!("{path}.prefix.blockTokens"), 0, "must be 1 or more"));
        }
        PrefixMatch { matched_blocks, total_blocks, block_tokens }
    }
}

impl FailingState {
    /// As the scheduler takes it, for the endpoint at `path`.
    pub(super) fn compile(self, path: &str, faults: &mut Vec<Finding>) -> Failing {
        if self.failures == 0 {
            let reason =
                "must be 1 or more; leave \"failing\" out of an endpoint whose last request succeeded";
            faults.push(Finding::error(format!("{path}.failing.failures"), 0, reason));
        }
        Failing { failures: self.failures, ago: self.ago.0 }
    }
}
