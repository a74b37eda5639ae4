//! What people and monitoring see of the companion.

mod counters;
mod metrics;
mod server;
mod targets;

#[cfg(test)]
pub(crate) use counters::RESULTS;
pub(crate) use counters::{FeedMessage, FeedMetrics, Refusal, ScrapeMetrics, TargetMetrics};
pub(crate) use metrics::Metrics;
pub(crate) use server::{Admin, serve};
