//! The model of an inference engine: continuous batching over a paged KV cache with a prefix cache.
//!
//! Time is virtual: whoever drives the model says what time it is, and what happens depends on when
//! requests arrived, not on how often or how late the model was asked. One step computes a token for
//! each running request and chunks of waiting prompts; its length follows from what it does, from the
//! GPU's speed and from what else runs on the GPU.

mod busy;
mod histogram;
mod kv_cache;
mod sequence;
mod stats;
mod timing;

use std::{collections::VecDeque, time::Duration};

pub(crate) use stats::Stats;
pub(crate) use timing::{Condition, Timing};

use self::{busy::BusyTime, kv_cache::KvCache, sequence::Sequence, timing::Work};
use super::tokens::{Context, Word};

/// Requests that wait at most; more are refused, so that a flood cannot exhaust the host's memory.
const MAX_WAITING: usize = 4096;

/// Names a request within its engine.
pub(crate) type RequestId = u64;

/// What an engine holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Requests that run at once.
    pub(crate) max_running: usize,
    /// Tokens that one step computes.
    pub(crate) max_batched_tokens: usize,
    /// Blocks in the KV cache.
    pub(crate) kv_blocks: usize,
    /// Tokens in a block.
    pub(crate) block_size: usize,
    /// Prompt and output together, in tokens; at most what the KV cache holds.
    pub(crate) max_model_len: usize,
}

/// Why a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinishReason {
    /// The model had nothing more to say.
    Stop,
    /// The client asked for no more tokens.
    Length,
}

impl FinishReason {
    /// As the API and the metrics call it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
        }
    }
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// What is to be computed first; at least one token.
    pub(crate) prompt: Context,
    /// Tokens to produce; at least one.
    pub(crate) output_tokens: usize,
    /// Why it ends when they are produced.
    pub(crate) finish: FinishReason,
}

/// Why a request cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// It could never fit.
    #[error(
        "this model's maximum context length is {max_model_len} tokens, but {prompt} tokens of prompt and \
         {output} tokens of output were asked for"
    )]
    TooLong { prompt: usize, output: usize, max_model_len: usize },
    /// There is nothing to compute.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// There is nothing to produce.
    #[error("at least one token of output must be asked for")]
    NoOutput,
    /// Too many wait already.
    #[error("{MAX_WAITING} requests wait already, try again later")]
    QueueFull,
}

/// A token was produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Produced {
    /// For this request.
    pub(crate) request: RequestId,
    /// Since the engine's start.
    pub(crate) at: Duration,
    /// The token's text.
    pub(crate) word: Word,
    /// Whether the request is finished.
    pub(crate) last: bool,
    /// Tokens of the request's prompt that were found in the prefix cache.
    pub(crate) cached_tokens: usize,
}

/// The state of one engine.
#[derive(Debug)]
pub(crate) struct Engine {
    limits: Limits,
    timing: Timing,
    condition: Condition,
    rng: fastrand::Rng,
    kv: KvCache,
    waiting: VecDeque<Sequence>,
    running: VecDeque<Sequence>,
    /// When the step under way ends.
    step_ends: Option<Duration>,
    /// When the last step ended.
    free_at: Duration,
    next_id: RequestId,
    stats: Stats,
    busy: BusyTime,
}

impl Engine {
    /// An idle engine.
    pub(crate) fn new(limits: Limits, timing: Timing, condition: Condition, seed: u64) -> Self {
        Self {
            kv: KvCache::new(limits.kv_blocks),
            limits,
            timing,
            condition,
            rng: fastrand::Rng::with_seed(seed),
            waiting: VecDeque::new(),
            running: VecDeque::new(),
            step_ends: None,
            free_at: Duration::ZERO,
            next_id: 0,
            stats: Stats::default(),
            busy: BusyTime::default(),
        }
    }

    /// Takes a request that arrived at `at`.
    ///
    /// # Errors
    /// When it could never be served, or too many requests wait.
    pub(crate) fn submit(&mut self, submission: Submission, at: Duration) -> Result<RequestId, Refused> {
        let (prompt, output) = (submission.prompt.len(), submission.output_tokens);
        let max_model_len = self.limits.max_model_len;
        if prompt == 0 {
            return Err(Refused::EmptyPrompt);
        }
        if output == 0 {
            return Err(Refused::NoOutput);
        }
        if prompt.saturating_add(output) > max_model_len {
            return Err(Refused::TooLong { prompt, output, max_model_len });
        }
        if self.waiting.len() >= MAX_WAITING {
            return Err(Refused::QueueFull);
        }
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.push_back(Sequence::new(id, at, submission));
        Ok(id)
    }

    /// Forgets a request and gives its blocks back at once. False when it is not there.
    pub(crate) fn cancel(&mut self, request: RequestId) -> bool {
        for queue in [&mut self.waiting, &mut self.running] {
            let place = queue.iter().position(|sequence| sequence.id == request);
            if let Some(mut sequence) = place.and_then(|place| queue.remove(place)) {
                sequence.release(&mut self.kv);
                self.stats.aborted += 1;
                return true;
            }
        }
        false
    }

    /// Lets everything happen that happens until `now`, and adds the tokens produced to `produced`.
    pub(crate) fn advance(&mut self, now: Duration, produced: &mut Vec<Produced>) {
        loop {
            if let Some(ends) = self.step_ends {
                if ends > now {
                    return;
                }
                self.end_step(ends, produced);
            }
            match self.next_start() {
                Some(start) if start <= now => self.begin_step(start),
                Some(_) | None => return,
            }
        }
    }

    /// When [`Self::advance`] has something to do again; `None` while nothing was asked for.
    pub(crate) fn wake_at(&self) -> Option<Duration> {
        self.step_ends.or_else(|| self.next_start())
    }

    /// Speed and load; they hold from the next step on.
    pub(crate) fn condition(&self) -> Condition {
        self.condition
    }

    /// Changes speed and load.
    pub(crate) fn set_condition(&mut self, condition: Condition) {
        self.condition = condition;
    }

    /// Requests that run.
    pub(crate) fn running(&self) -> usize {
        self.running.len()
    }

    /// Requests that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The fraction of the KV cache that requests hold.
    pub(crate) fn kv_usage(&self) -> f64 {
        self.kv.used() as f64 / self.kv.capacity().max(1) as f64
    }

    /// What was done since the start.
    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// How much of the GPU was in use over the last second, by this engine and by what else there is.
    pub(crate) fn gpu_utilization(&self, now: Duration) -> f64 {
        (self.busy.fraction(now) + self.condition.gpu_load).min(1.0)
    }

    fn next_start(&self) -> Option<Duration> {
        if self.running.is_empty() {
            self.waiting.front().map(|first| first.arrival.max(self.free_at))
        } else {
            Some(self.free_at)
        }
    }

    fn begin_step(&mut self, start: Duration) {
        let mut budget = self.limits.max_batched_tokens;
        let mut work = Work::default();
        let preempted = self.schedule_running(&mut budget, &mut work);
        if !preempted {
            self.schedule_waiting(start, &mut budget, &mut work);
        }
        work.kv_blocks = self.kv.used();
        let stray = self.rng.f64() * 2.0 - 1.0;
        let time = self.timing.step(work, self.condition, stray);
        self.busy.add(start + time.host, start + time.total);
        self.step_ends = Some(start + time.total);
    }

    /// Plans the requests that run. Where the KV cache has no room left, those that came last lose
    /// their blocks and wait again: true if any did.
    fn schedule_running(&mut self, budget: &mut usize, work: &mut Work) -> bool {
        let mut preempted = false;
        let mut kept = VecDeque::with_capacity(self.running.len());
        while let Some(mut sequence) = self.running.pop_front() {
            let scheduled = loop {
                let scheduled = sequence.schedule(&mut self.kv, self.limits.block_size, *budget);
                if scheduled.is_some() {
                    break scheduled;
                }
                preempted = true;
                match self.running.pop_back() {
                    Some(victim) => self.preempt(victim),
                    None => break None,
                }
            };
            match scheduled {
                Some(tokens) => {
                    plan(&sequence, tokens, budget, work);
                    kept.push_back(sequence);
                }
                None => self.preempt(sequence),
            }
        }
        self.running = kept;
        preempted
    }

    fn preempt(&mut self, mut sequence: Sequence) {
        sequence.release(&mut self.kv);
        self.stats.preemptions += 1;
        self.waiting.push_front(sequence);
    }

    /// Admits requests in the order of their arrival, as long as they fit.
    fn schedule_waiting(&mut self, start: Duration, budget: &mut usize, work: &mut Work) {
        while self.running.len() < self.limits.max_running && *budget > 0 {
            let Some(mut sequence) = self.waiting.pop_front() else { return };
            let first_time = !sequence.was_admitted();
            if sequence.arrival > start || !sequence.admit(&mut self.kv, self.limits.block_size) {
                self.waiting.push_front(sequence);
                return;
            }
            if first_time {
                self.stats.prefix_queries += sequence.prompt_len() as u64;
                self.stats.prefix_hits += sequence.cached() as u64;
            }
            let tokens = sequence.schedule(&mut self.kv, self.limits.block_size, *budget).unwrap_or(0);
            plan(&sequence, tokens, budget, work);
            self.running.push_back(sequence);
        }
    }

    fn end_step(&mut self, ends: Duration, produced: &mut Vec<Produced>) {
        self.step_ends = None;
        self.free_at = ends;
        let mut kept = VecDeque::with_capacity(self.running.len());
        while let Some(mut sequence) = self.running.pop_front() {
            let word = if sequence.is_scheduled() {
                sequence.step_done(&mut self.kv, self.limits.block_size)
            } else {
                None
            };
            let last = sequence.is_done();
            if let Some(word) = word {
                let (request, cached_tokens) = (sequence.id, sequence.cached());
                produced.push(Produced { request, at: ends, word, last, cached_tokens });
                self.stats.token(&sequence, ends);
            }
            if last {
                sequence.release(&mut self.kv);
            } else {
                kept.push_back(sequence);
            }
        }
        self.running = kept;
    }
}

/// Accounts for a request that takes part in a step with `tokens`.
fn plan(sequence: &Sequence, tokens: usize, budget: &mut usize, work: &mut Work) {
    *budget = budget.saturating_sub(tokens);
    if tokens > 0 {
        work.sequences += 1;
    }
    if sequence.is_prefill() {
        work.prefill_tokens += tokens;
    }
}

#[cfg(test)]
mod tests;
