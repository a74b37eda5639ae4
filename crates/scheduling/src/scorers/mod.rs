//! Scorers, one file each.

mod active_request;
mod endpoint_attribute;
mod kv_cache_utilization;
mod queue;
mod range;
mod reported;
mod running_requests;

pub use active_request::ActiveRequestScorer;
pub use endpoint_attribute::EndpointAttributeScorer;
pub use kv_cache_utilization::KvCacheUtilizationScorer;
pub use queue::QueueScorer;
pub use running_requests::RunningRequestsSizeScorer;

#[cfg(test)]
mod tests;
