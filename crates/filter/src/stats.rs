//! The table of metrics that the filter exports through Envoy.
//!
//! Envoy's Wasm metrics have no labels; they are written into the name as `.label=value` and turned
//! into labels by the `stats_tags` of `envoy/envoy.yaml`.

use std::fmt::Write as _;

/// How a metric is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// As Prometheus shows it.
    pub name: &'static str,
    /// How it is read.
    pub kind: Kind,
    /// Its labels, in the order in which values are given.
    pub labels: &'static [&'static str],
    /// What it says.
    pub meaning: &'static str,
}

macro_rules! metrics {
    ($($id:ident = $name:literal $kind:ident [$($label:literal),*] $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $id: Metric =
            Metric { name: $name, kind: Kind::$kind, labels: &[$($label),*], meaning: $meaning };)*
        /// Every metric, for the reference.
        pub const METRICS: &[Metric] = &[$($id),*];
    };
}

metrics! {
    REQUESTS = "headroom_requests_total" Counter ["pool", "outcome"]
        "Requests by what became of them: scheduled, passed_through (no endpoint is known, Envoy balanced), no_data, no_endpoints, none_capable, none_available, saturated, no_profile, bad_request, too_large.";
    FALLBACKS = "headroom_fallbacks_total" Counter ["pool", "rule", "filter"]
        "Decisions that an exception made, by rule: least_bad and metrics_missing, where a filter could not be kept to, and probe, where the filter label names the scorer that did not know the endpoint.";
    FAILURES = "headroom_endpoint_failures_total" Counter ["pool", "endpoint"]
        "Attempts that the endpoint did not answer, or with 500, 502, 503 or 504. Counted where a health-filter asks for it.";
    SERVED_ELSEWHERE = "headroom_served_elsewhere_total" Counter ["pool"]
        "Responses that came from another endpoint than the choice: a retry, or a choice Envoy does not know.";
    INFLIGHT = "headroom_inflight_requests" Gauge ["pool", "endpoint"]
        "Requests sent to the endpoint that have not ended, over all workers.";
    FEED_CONNECTED = "headroom_feed_connected" Gauge ["cluster"]
        "1 while the stream to the companion is live.";
    FEED_MESSAGES = "headroom_feed_messages_total" Counter ["cluster", "kind"]
        "Messages from the companion: snapshot, delta, heartbeat, invalid.";
    FEED_ENDED = "headroom_feed_ended_total" Counter ["cluster", "reason"]
        "Ends of the stream: closed, silent, gap, invalid, refused, lost_lease.";
    FEED_DROPPED = "headroom_feed_dropped_values_total" Counter ["cluster"]
        "Endpoints and values in messages that are not valid and were left out.";
    LEASES = "headroom_lease_acquired_total" Counter ["cluster"]
        "Times a worker took over the feed.";
    POOL_ENDPOINTS = "headroom_pool_endpoints" Gauge ["pool"]
        "Endpoints the feed has told of.";
}

impl Metric {
    /// The name with its labels' values, as Envoy stores it.
    pub fn with(&self, values: &[&str]) -> String {
        let mut name = self.name.to_owned();
        for (label, value) in self.labels.iter().zip(values) {
            // A dot ends a label's value.
            let _infallible = write!(name, ".{label}={}", value.replace('.', "_"));
        }
        name
    }
}
