//! A ratio of two counters between scrapes.

use headroom_datalayer::{Sample, Timestamp, Value};

/// What is remembered of two counters from one scrape to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HitRate {
    last: Option<(f64, f64)>,
    rate: Option<Sample>,
}

impl HitRate {
    /// The share of hits among the queries since the last scrape; over all time at the first scrape
    /// and after a counter started anew. Without new queries nothing was measured, and the last rate
    /// stays with its own time. `None` while there was no query at all.
    pub(crate) fn update(&mut self, hits: f64, queries: f64, at: Timestamp) -> Option<Sample> {
        let (new_hits, new_queries) = match self.last {
            Some((last_hits, last_queries)) if hits >= last_hits && queries >= last_queries => {
                (hits - last_hits, queries - last_queries)
            }
            _ => {
                self.rate = None;
                (hits, queries)
            }
        };
        self.last = Some((hits, queries));
        if new_queries > 0.0
            && let Some(value) = Value::number((new_hits / new_queries).min(1.0))
        {
            self.rate = Some(Sample { value, measured_at: at });
        }
        self.rate.clone()
    }
}
