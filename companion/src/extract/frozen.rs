//! Gauges that stand still.
//!
//! Some engines write their gauges only when they take a step. One whose requests were all aborted takes none, and its
//! queue and cache keep the values of the last step for ever (vllm-project/vllm#22545).

use std::hash::{DefaultHasher, Hasher};

use headroom_datalayer::{Sample, Span, Timestamp, well_known};

use super::Facts;

/// An engine that works changes some of its values within this time.
const STILL_FOR: Span = Span::from_secs(30);

/// The values that an engine changes when it works.
const MOVING: [&str; 5] = [
    well_known::WAITING_QUEUE_SIZE,
    well_known::RUNNING_REQUESTS_SIZE,
    well_known::KV_CACHE_USAGE,
    well_known::PROMPT_TOKEN_RATE,
    well_known::GENERATION_TOKEN_RATE,
];

/// The values that are not to be believed when they stand still.
const GAUGES: [&str; 3] =
    [well_known::WAITING_QUEUE_SIZE, well_known::RUNNING_REQUESTS_SIZE, well_known::KV_CACHE_USAGE];

/// What is remembered from one scrape to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Frozen {
    values: u64,
    since: Option<Timestamp>,
}

impl Frozen {
    /// Gives load that has stood still for too long the time of its last change, so that it ages like anything else
    /// that is not measured any more. An idle engine may stand still. Says what was found.
    pub(super) fn check(&mut self, facts: &mut Facts, now: Timestamp) -> Option<String> {
        let number = |attribute: &str| facts.get(attribute).and_then(|sample| sample.value.as_number());
        let mut hasher = DefaultHasher::new();
        for attribute in MOVING {
            hasher.write_u64(number(attribute).map_or(u64::MAX, f64::to_bits));
        }
        let values = hasher.finish();
        let running = number(well_known::RUNNING_REQUESTS_SIZE).unwrap_or(0.0);
        let waiting = number(well_known::WAITING_QUEUE_SIZE).unwrap_or(0.0);
        let rate = number(well_known::GENERATION_TOKEN_RATE).unwrap_or(0.0);
        // Tokens that come at a steady rate are work.
        let is_busy = (running > 0.0 || waiting > 0.0) && rate == 0.0;
        if values != self.values || !is_busy || self.since.is_none_or(|since| since > now) {
            *self = Self { values, since: Some(now) };
            return None;
        }
        let since = self.since.filter(|since| now.since(*since) >= STILL_FOR)?;
        for attribute in GAUGES {
            if let Some(Sample { measured_at, .. }) = facts.get_mut(attribute) {
                *measured_at = (*measured_at).min(since);
            }
        }
        let seconds = now.since(since).as_secs_f64();
        Some(format!(
            "running {running} and waiting {waiting}, but nothing has moved for {seconds:.0} s and no token was \
             generated: the engine takes no steps, and its load counts as not measured since then"
        ))
    }
}
