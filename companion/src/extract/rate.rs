//! What a counter gains in a second.

use headroom_datalayer::{Sample, Span, Timestamp, Value};

/// A rate is taken over at least this long: over one scrape interval a batch of tokens more or less would be seen as
/// a jump.
const WINDOW: Span = Span::from_secs(1);

/// What is remembered of a counter from one scrape to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rate {
    start: Option<(f64, Timestamp)>,
    rate: Option<Sample>,
}

impl Rate {
    /// The gain in a second over the last window; `None` until one is full. A counter that went back, or a clock
    /// that did, starts anew.
    pub(crate) fn update(&mut self, total: f64, at: Timestamp) -> Option<Sample> {
        match self.start {
            Some((before, start)) if total >= before && at >= start => {
                let window = at.since(start);
                if window >= WINDOW {
                    let value = Value::number((total - before) / window.as_secs_f64());
                    self.rate = value.map(|value| Sample { value, measured_at: at });
                    self.start = Some((total, at));
                }
            }
            _ => *self = Self { start: Some((total, at)), rate: None },
        }
        self.rate.clone()
    }
}
