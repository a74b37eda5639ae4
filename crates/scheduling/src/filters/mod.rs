//! Filters, one file each.

mod endpoint_attribute;
mod gpu_utilization;
mod health;
mod label_selector;
mod memory_tier;
mod model;
mod prefix_cache_affinity;
mod role;
mod session_affinity;
mod utilization;

pub use endpoint_attribute::EndpointAttributeFilter;
pub use gpu_utilization::GpuUtilizationFilter;
pub use health::HealthFilter;
pub use label_selector::LabelSelectorFilter;
pub use memory_tier::MemoryTierFilter;
pub use model::ModelFilter;
pub use prefix_cache_affinity::PrefixCacheAffinityFilter;
pub use role::{Decode, Encode, Prefill, RoleFilter};
pub use session_affinity::SessionAffinityFilter;
pub use utilization::UtilizationFilter;

#[cfg(test)]
mod tests;
