//! One request inside the engine.

use std::time::Duration;

use super::{
    FinishReason, RequestId, Submission,
    kv_cache::{BlockHash, KvCache},
};
use crate::fake_pool::tokens::{Context, Token, Word};

#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) id: RequestId,
    pub(super) arrival: Duration,
    pub(super) finish: FinishReason,
    /// The prompt, then what was produced.
    context: Context,
    prompt_len: usize,
    output_len: usize,
    /// Tokens whose KV values are in the cache.
    computed: usize,
    /// Tokens that the step under way computes.
    scheduled: usize,
    /// Tokens found in the prefix cache at the first admission.
    cached: Option<usize>,
    /// Blocks held: the first of the context's chain, which are full, and private ones.
    shared: usize,
    private: usize,
}

impl Sequence {
    pub(super) fn new(id: RequestId, arrival: Duration, submission: Submission) -> Self {
        let Submission { prompt, output_tokens, finish } = submission;
        Self {
            id,
            arrival,
            finish,
            prompt_len: prompt.len(),
            context: prompt,
            output_len: output_tokens,
            computed: 0,
            scheduled: 0,
            cached: None,
            shared: 0,
            private: 0,
        }
    }

    pub(super) fn prompt_len(&self) -> usize {
        self.prompt_len
    }

    /// Tokens of the prompt that were found in the prefix cache.
    pub(super) fn cached(&self) -> usize {
        self.cached.unwrap_or(0)
    }

    /// Tokens that were produced.
    pub(super) fn produced(&self) -> usize {
        self.context.len() - self.prompt_len
    }

    pub(super) fn is_done(&self) -> bool {
        self.produced() >= self.output_len
    }

    /// Whether it takes part in the step under way.
    pub(super) fn is_scheduled(&self) -> bool {
        self.scheduled > 0
    }

    /// Takes the blocks for everything known so far; what is in the prefix cache is not computed
    /// again, except the last token, whose result is needed. False when the KV cache has no room.
    pub(super) fn admit(&mut self, kv: &mut KvCache, block_size: usize) -> bool {
        let reusable = self.context.len().saturating_sub(1) / block_size;
        let prefix = kv.cached_prefix(self.full_blocks(reusable));
        let private = self.context.len().div_ceil(block_size) - prefix;
        if !kv.claim(self.full_blocks(prefix), private) {
            return false;
        }
        (self.shared, self.private) = (prefix, private);
        self.computed = prefix * block_size;
        self.cached.get_or_insert(self.computed);
        true
    }

    /// Whether it was admitted before and lost its blocks since.
    pub(super) fn was_admitted(&self) -> bool {
        self.cached.is_some()
    }

    /// Plans at most `budget` tokens for the next step. `None` when the KV cache has no room for them,
    /// else the tokens planned.
    pub(super) fn schedule(&mut self, kv: &mut KvCache, block_size: usize, budget: usize) -> Option<usize> {
        let tokens = (self.context.len() - self.computed).min(budget);
        let blocks = (self.computed + tokens).div_ceil(block_size);
        let missing = blocks.saturating_sub(self.shared + self.private);
        if missing > 0 && !kv.grow(missing) {
            return None;
        }
        self.private += missing;
        self.scheduled = tokens;
        Some(tokens)
    }

    /// Whether the step under way computes prompt tokens (or, after a preemption, what was there
    /// before it), not just the newest one.
    pub(super) fn is_prefill(&self) -> bool {
        self.produced() == 0 || self.scheduled > 1
    }

    /// Ends the step: what was planned is computed, and blocks that got full can be shared. A word is
    /// produced when nothing is left to compute.
    pub(super) fn step_done(&mut self, kv: &mut KvCache, block_size: usize) -> Option<Word> {
        self.computed += std::mem::take(&mut self.scheduled);
        while self.shared < self.computed / block_size {
            let Some(hash) = self.context.chain().get(self.shared) else { break };
            kv.share(*hash);
            self.shared += 1;
            self.private = self.private.saturating_sub(1);
        }
        if self.computed < self.context.len() {
            return None;
        }
        let word = self.context.next_word();
        self.context.push(Token::from(word));
        Some(word)
    }

    /// Gives every block back; what was computed is lost, save what stays in the prefix cache.
    pub(super) fn release(&mut self, kv: &mut KvCache) {
        kv.release(self.full_blocks(self.shared), self.private);
        (self.shared, self.private, self.computed, self.scheduled) = (0, 0, 0, 0);
    }

    fn full_blocks(&self, count: usize) -> &[BlockHash] {
        self.context.chain().get(..count).unwrap_or_default()
    }
}
