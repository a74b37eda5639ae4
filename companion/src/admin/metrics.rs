//! The companion's own metrics.

use std::{collections::BTreeMap, sync::atomic::AtomicU64, time::Duration};

use headroom_datalayer::{Sample, Span, Timestamp, attribute_info, read, well_known};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};

use super::counters::{FeedMetrics, ScrapeMetrics, Seconds, TargetLabels};
use crate::{discovery::Sources, join::Unmatched, publish::Hub, scrape::Targets};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PoolLabels {
    pool: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct MeanLabels {
    pool: String,
    attribute: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct UnmatchedLabels {
    target: String,
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct SourceLabels {
    pool: String,
    source: String,
}

/// Every metric of the process.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    /// Counted by the scrape loops.
    pub(crate) scrape: ScrapeMetrics,
    /// Counted by the feed.
    pub(crate) feed: FeedMetrics,
    last_success: Family<TargetLabels, Seconds>,
    staleness: Family<TargetLabels, Seconds>,
    unmatched_gpus: Family<UnmatchedLabels, Gauge>,
    pool_endpoints: Family<PoolLabels, Gauge>,
    pool_fresh: Family<PoolLabels, Gauge>,
    pool_means: Family<MeanLabels, Gauge<f64, AtomicU64>>,
    source_endpoints: Family<SourceLabels, Gauge>,
    source_problems: Family<SourceLabels, Gauge>,
}

impl Metrics {
    /// The metrics, with nothing counted.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("headroom"),
            scrape: ScrapeMetrics::default(),
            feed: FeedMetrics::default(),
            last_success: Family::default(),
            staleness: Family::default(),
            unmatched_gpus: Family::default(),
            pool_endpoints: Family::default(),
            pool_fresh: Family::default(),
            pool_means: Family::default(),
            source_endpoints: Family::default(),
            source_problems: Family::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        let scrape = &self.scrape;
        registry.register("target_scrapes", "Scrapes of a target, by how they ended", scrape.scrapes.clone());
        registry.register_with_unit(
            "target_last_scrape_duration",
            "How long the last scrape of a target took",
            Unit::Seconds,
            scrape.duration.clone(),
        );
        registry.register(
            "target_parse_errors",
            "Lines of a target's scrapes that could not be read",
            scrape.parse_errors.clone(),
        );
        registry.register_with_unit(
            "target_last_success_timestamp",
            "When the last scrape of a target that gave values was sent; absent before the first",
            Unit::Seconds,
            self.last_success.clone(),
        );
        registry.register_with_unit(
            "target_staleness",
            "Time since the last scrape of a target that gave values; absent before the first",
            Unit::Seconds,
            self.staleness.clone(),
        );
        registry.register(
            "target_unmatched_gpus",
            "GPUs in the last scrape of an exporter that belong to no endpoint, by reason",
            self.unmatched_gpus.clone(),
        );
        registry.register("pool_endpoints", "Endpoints of a pool", self.pool_endpoints.clone());
        registry.register(
            "pool_fresh_endpoints",
            "Endpoints of a pool with at least one engine value that is young enough to use",
            self.pool_fresh.clone(),
        );
        registry.register(
            "pool_attribute_mean",
            "Mean of an attribute over the endpoints of a pool whose value is young enough to use; absent where none is",
            self.pool_means.clone(),
        );
        registry.register(
            "discovery_endpoints",
            "Endpoints that a source of a pool lists; absent while it could not be asked yet",
            self.source_endpoints.clone(),
        );
        registry.register(
            "discovery_problems",
            "What is wrong with a source of a pool now; /targets says what",
            self.source_problems.clone(),
        );
        let feed = &self.feed;
        registry.register("feed_subscribers", "Open feed streams", feed.subscribers.clone());
        registry.register("feed_messages", "Messages sent to subscribers, by kind", feed.messages.clone());
        registry.register(
            "feed_resnapshots",
            "Snapshots sent to subscribers that were too far behind for deltas",
            feed.resnapshots.clone(),
        );
        registry.register(
            "feed_oversized_messages",
            "Messages that were not sent because they are longer than feed.maxMessageBytes",
            feed.oversized.clone(),
        );
        registry.register(
            "feed_refused",
            "Connections and streams that were refused, by reason",
            feed.refusals.clone(),
        );
    }

    /// All metrics as OpenMetrics text.
    ///
    /// # Errors
    /// Never with text in memory.
    pub(crate) fn render(
        &self,
        hub: &Hub,
        targets: &Targets,
        sources: &Sources,
        now: Timestamp,
    ) -> Result<String, std::fmt::Error> {
        // What is gone since the last time must not be shown any more.
        self.last_success.clear();
        self.staleness.clear();
        self.unmatched_gpus.clear();
        targets.for_each(|url, _, state| {
            let labels = TargetLabels { target: url.to_owned() };
            if let Some(at) = state.last_success {
                self.last_success.get_or_create(&labels).set(seconds(at.as_micros()));
                self.staleness.get_or_create(&labels).set(seconds(now.since(at).as_micros()));
            }
            for (reason, count) in state.unmatched_gpus.map(Unmatched::by_reason).into_iter().flatten() {
                let labels = UnmatchedLabels { target: url.to_owned(), reason };
                self.unmatched_gpus.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
            }
        });
        self.pool_means.clear();
        hub.for_each_pool(|pool, state| {
            let labels = PoolLabels { pool: pool.to_owned() };
            let (mut all, mut fresh) = (0, 0);
            let mut sums = [(0.0, 0_u32); LOAD.len()];
            for (_, samples) in state.iter() {
                all += 1;
                let mut is_fresh = false;
                for (attribute, (sum, count)) in LOAD.iter().zip(&mut sums) {
                    if let Some(number) = fresh_number(samples, attribute, now) {
                        *sum += number;
                        *count += 1;
                        is_fresh = true;
                    }
                }
                fresh += i64::from(is_fresh);
            }
            self.pool_endpoints.get_or_create(&labels).set(all);
            self.pool_fresh.get_or_create(&labels).set(fresh);
            for (attribute, (sum, count)) in LOAD.into_iter().zip(sums).filter(|(_, (_, count))| *count > 0) {
                let labels = MeanLabels { pool: pool.to_owned(), attribute };
                self.pool_means.get_or_create(&labels).set(sum / f64::from(count));
            }
        });
        self.source_endpoints.clear();
        for state in sources.states() {
            let labels = SourceLabels { pool: state.pool, source: state.source };
            let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
            self.source_problems.get_or_create(&labels).set(count(state.problems.len()));
            if let Some(endpoints) = state.endpoints {
                self.source_endpoints.get_or_create(&labels).set(count(endpoints));
            }
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// The values by which an endpoint's load is known.
const LOAD: [&str; 3] =
    [well_known::WAITING_QUEUE_SIZE, well_known::RUNNING_REQUESTS_SIZE, well_known::KV_CACHE_USAGE];

fn fresh_number(samples: &BTreeMap<String, Sample>, attribute: &str, now: Timestamp) -> Option<f64> {
    let max_age = attribute_info(attribute).map_or(Span::ZERO, |info| info.max_age);
    read(samples.get(attribute), now, max_age).number()
}

fn seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}
