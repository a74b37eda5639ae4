//! When an exporter's values were measured.

use std::{
    hash::{DefaultHasher, Hasher},
    time::Duration,
};

use headroom_datalayer::Timestamp;
use headroom_exposition::Sample;

/// What is remembered of an exporter from one scrape to the next.
///
/// An exporter measures at times of its own and repeats the values to whoever asks in between: dcgm-exporter every 30
/// seconds unless told otherwise. Values that are those of the scrape before may not have been measured since.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Refresh {
    /// The values of the last scrape, and when it was sent that had them first; `None` before the second one.
    last: Option<(u64, Option<Timestamp>)>,
}

impl Refresh {
    /// When the values of a scrape that was sent at `sent_at` were measured at the earliest: when they were first
    /// seen, or one period of the exporter before the scrape, whichever is later.
    pub(crate) fn measured_at<'s, 'p: 's>(
        &mut self,
        samples: impl Iterator<Item = &'s Sample<'p>>,
        sent_at: Timestamp,
        period: Duration,
    ) -> Timestamp {
        let mut hasher = DefaultHasher::new();
        for sample in samples {
            hasher.write_u64(sample.value.to_bits());
        }
        let values = hasher.finish();
        let first_seen = match self.last {
            None => None,
            Some((known, first_seen)) if known == values => first_seen,
            Some(_) => Some(sent_at),
        };
        self.last = Some((values, first_seen));
        let period = u64::try_from(period.as_micros()).unwrap_or(u64::MAX);
        let earliest = Timestamp::from_micros(sent_at.as_micros().saturating_sub(period));
        first_seen.filter(|at| *at <= sent_at).map_or(earliest, |at| at.max(earliest))
    }
}
