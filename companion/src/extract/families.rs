//! The samples of a scrape, by name.

use std::collections::BTreeMap;

use headroom_datalayer::Timestamp;
use headroom_exposition::{Kind, Parsed, Sample};

/// A scrape whose series are found by name.
#[derive(Debug)]
pub(crate) struct Families<'p> {
    parsed: &'p Parsed<'p>,
    by_name: BTreeMap<&'p str, Vec<&'p Sample<'p>>>,
    /// When the scrape was sent.
    pub(crate) sent_at: Timestamp,
}

impl<'p> Families<'p> {
    /// Sorts a scrape that was sent at `sent_at`. The buckets of histograms are left out: nothing is read in them.
    pub(crate) fn new(parsed: &'p Parsed<'p>, sent_at: Timestamp) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&Sample<'_>>> = BTreeMap::new();
        let of_use = parsed.samples.iter().filter(|sample| !sample.name.ends_with("_bucket"));
        for sample in of_use {
            by_name.entry(sample.name).or_default().push(sample);
        }
        Self { parsed, by_name, sent_at }
    }

    /// The series called `prefix` and `metric` together, or the same with underscores for colons.
    pub(crate) fn series(&self, prefix: &str, metric: &str) -> &[&'p Sample<'p>] {
        let plain = || self.by_name.get(format!("{prefix}{}", metric.replace(':', "_")).as_str());
        let found = if prefix.is_empty() { self.by_name.get(metric).or_else(plain) } else { plain() };
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// The type that the scrape declares for a sample.
    pub(crate) fn kind(&self, sample: &Sample<'_>) -> Option<Kind> {
        self.parsed.kind(sample.name)
    }

    /// The time of a value: the sample's own if it is older than the scrape.
    pub(crate) fn measured_at(&self, sample: &Sample<'_>) -> Timestamp {
        let own = sample.timestamp_micros.and_then(|micros| u64::try_from(micros).ok());
        own.map_or(self.sent_at, |own| Timestamp::from_micros(own).min(self.sent_at))
    }
}
