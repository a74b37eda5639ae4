//! Scorers, one file each.

mod active_request;
mod endpoint_attribute;
mod header_label_affinity;
mod kv_cache_utilization;
mod load_aware;
mod lora_affinity;
mod no_hit_lru;
mod prefix_cache;
mod queue;
mod range;
mod reported;
mod running_requests;
mod session_affinity;
mod token_load;
mod topology_affinity;

pub use active_request::ActiveRequestScorer;
pub use endpoint_attribute::EndpointAttributeScorer;
pub use header_label_affinity::HeaderLabelAffinityScorer;
pub use kv_cache_utilization::KvCacheUtilizationScorer;
pub use load_aware::LoadAwareScorer;
pub use lora_affinity::LoraAffinityScorer;
pub use no_hit_lru::NoHitLruScorer;
pub use prefix_cache::PrefixCacheScorer;
pub use queue::QueueScorer;
pub use running_requests::RunningRequestsSizeScorer;
pub use session_affinity::SessionAffinityScorer;
pub use token_load::TokenLoadScorer;
pub use topology_affinity::TopologyAffinityScorer;

#[cfg(test)]
mod tests;
