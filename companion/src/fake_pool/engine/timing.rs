//! What a step costs.

use std::{ops::RangeInclusive, time::Duration};

/// Shorter than any real step: time always goes on.
const SHORTEST: Duration = Duration::from_micros(10);
const LONGEST: Duration = Duration::from_secs(3600);

/// The parts of a step's time. Milliseconds on an idle GPU of speed 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timing {
    /// Always there.
    pub(crate) step_ms: f64,
    /// The fraction of `step_ms` in which the host works and the GPU idles.
    pub(crate) host_share: f64,
    /// For each request in the step.
    pub(crate) per_sequence_ms: f64,
    /// For each prompt token that is computed.
    pub(crate) prefill_ms_per_token: f64,
    /// For each KV block in use.
    pub(crate) kv_read_ms_per_block: f64,
    /// How far a step strays to either side, a fraction.
    pub(crate) jitter: f64,
    /// The fraction of its speed that the engine loses when the injected load is 1; below 1.
    pub(crate) contention: f64,
}

/// What can change while the engine runs. Holds from the next step on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Condition {
    /// 1 is normal; within [`Condition::SPEED`].
    pub(crate) speed: f64,
    /// Load from elsewhere on the same GPU, a fraction.
    pub(crate) gpu_load: f64,
}

impl Condition {
    /// The speeds that are possible.
    pub(crate) const SPEED: RangeInclusive<f64> = 0.01..=100.0;
    /// The loads that are possible.
    pub(crate) const GPU_LOAD: RangeInclusive<f64> = 0.0..=1.0;
}

/// What one step does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Prompt tokens that are computed.
    pub(super) prefill_tokens: usize,
    /// Requests that take part.
    pub(super) sequences: usize,
    /// KV blocks in use.
    pub(super) kv_blocks: usize,
}

/// How long a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepTime {
    /// From its start until the GPU works.
    pub(super) host: Duration,
    /// From its start to its end.
    pub(super) total: Duration,
}

impl Timing {
    /// How long `work` takes. `stray` is a random number from -1 to 1.
    pub(super) fn step(&self, work: Work, condition: Condition, stray: f64) -> StepTime {
        let ms = self.step_ms
            + work.prefill_tokens as f64 * self.prefill_ms_per_token
            + work.sequences as f64 * self.per_sequence_ms
            + work.kv_blocks as f64 * self.kv_read_ms_per_block;
        let pace = condition.speed * (1.0 - condition.gpu_load * self.contention);
        let seconds = ms * (1.0 + self.jitter * stray) / pace / 1000.0;
        let total = Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).clamp(SHORTEST, LONGEST);
        StepTime { host: total.mul_f64((self.step_ms * self.host_share / ms).clamp(0.0, 1.0)), total }
    }
}
