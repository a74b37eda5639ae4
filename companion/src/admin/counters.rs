//! What is counted as it happens.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
};
use tokio::sync::watch;

/// A gauge of seconds.
pub(super) type Seconds = Gauge<f64, AtomicU64>;

/// The labels of what is counted by target.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct TargetLabels {
    pub(super) target: String,
}

/// The labels of scrapes.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct ResultLabels {
    target: String,
    result: &'static str,
}

/// The labels of feed messages.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct MessageLabels {
    kind: &'static str,
}

/// The kinds of feed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedMessage {
    /// A pool as a whole.
    Snapshot,
    /// Changes of a pool.
    Delta,
    /// Nothing but a sign of life.
    Heartbeat,
}

impl FeedMessage {
    fn as_str(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Delta => "delta",
            Self::Heartbeat => "heartbeat",
        }
    }
}

/// How scrapes end: well, with nothing that is known, or with one of the kinds of errors.
pub(crate) const RESULTS: [&str; 11] = [
    "ok",
    "nothing_known",
    "timeout",
    "connect",
    "tls",
    "auth_file",
    "status",
    "too_large",
    "transport",
    "no_samples",
    "no_models",
];

/// What the scrape loops count.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScrapeMetrics {
    pub(super) scrapes: Family<ResultLabels, Counter>,
    pub(super) duration: Family<TargetLabels, Seconds>,
    pub(super) parse_errors: Family<TargetLabels, Counter>,
}

impl ScrapeMetrics {
    /// The part of one target.
    pub(crate) fn target(&self, url: &str) -> TargetMetrics {
        TargetMetrics { all: self.clone(), url: url.to_owned() }
    }

    /// Drops the series of a target that is scraped no more.
    pub(crate) fn forget(&self, url: &str) {
        let labels = TargetLabels { target: url.to_owned() };
        self.duration.remove(&labels);
        self.parse_errors.remove(&labels);
        for result in RESULTS {
            self.scrapes.remove(&ResultLabels { target: url.to_owned(), result });
        }
    }
}

/// What one target's scrape loop counts.
#[derive(Clone, Debug)]
pub(crate) struct TargetMetrics {
    all: ScrapeMetrics,
    url: String,
}

impl TargetMetrics {
    /// Counts a scrape.
    pub(crate) fn scraped(&self, result: &'static str, elapsed: Duration, parse_errors: usize) {
        let labels = TargetLabels { target: self.url.clone() };
        self.all.scrapes.get_or_create(&ResultLabels { target: self.url.clone(), result }).inc();
        self.all.duration.get_or_create(&labels).set(elapsed.as_secs_f64());
        let parse_errors = u64::try_from(parse_errors).unwrap_or(u64::MAX);
        self.all.parse_errors.get_or_create(&labels).inc_by(parse_errors);
    }
}

/// The labels of those whom the feed refused.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct RefusalLabels {
    reason: &'static str,
}

/// Why the feed refuses somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The TLS handshake failed.
    Handshake,
    /// There are as many subscribers as there may be.
    TooMany,
    /// The process is stopping.
    Stopping,
}

impl Refusal {
    fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::TooMany => "too_many",
            Self::Stopping => "stopping",
        }
    }
}

/// What the feed counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeedMetrics {
    pub(super) subscribers: Gauge,
    pub(super) messages: Family<MessageLabels, Counter>,
    /// Snapshots for those who were too far behind.
    pub(crate) resnapshots: Counter,
    /// Messages that were not sent because they are too long.
    pub(crate) oversized: Counter,
    pub(super) refusals: Family<RefusalLabels, Counter>,
    open: Arc<watch::Sender<usize>>,
}

/// An open stream; dropped when it ends.
#[derive(Debug)]
pub(crate) struct Subscriber {
    gauge: Gauge,
    open: Arc<watch::Sender<usize>>,
}

impl FeedMetrics {
    /// Counts a message.
    pub(crate) fn count(&self, kind: FeedMessage) {
        self.messages.get_or_create(&MessageLabels { kind: kind.as_str() }).inc();
    }

    /// Counts somebody who was refused.
    pub(crate) fn refused(&self, reason: Refusal) {
        self.refusals.get_or_create(&RefusalLabels { reason: reason.as_str() }).inc();
    }

    /// How often somebody was refused for this reason.
    #[cfg(test)]
    pub(crate) fn refusals_of(&self, reason: &'static str) -> u64 {
        self.refusals.get_or_create(&RefusalLabels { reason }).get()
    }

    /// Waits until no stream is open.
    pub(crate) async fn none_open(&self) {
        // Fails only when the sender is gone, which is here.
        let mut open = self.open.subscribe();
        let _none = open.wait_for(|open| *open == 0).await;
    }

    /// Counts a stream in, unless there are `most` already.
    pub(crate) fn subscriber(&self, most: usize) -> Option<Subscriber> {
        let is_one_more = self.open.send_if_modified(|open| {
            let is_one_more = *open < most;
            *open += usize::from(is_one_more);
            is_one_more
        });
        if !is_one_more {
            return None;
        }
        self.subscribers.inc();
        Some(Subscriber { gauge: self.subscribers.clone(), open: Arc::clone(&self.open) })
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.gauge.dec();
        self.open.send_modify(|open| *open = open.saturating_sub(1));
    }
}
