//! Filters, one file each.

mod endpoint_attribute;
mod gpu_utilization;
mod label_selector;

pub use endpoint_attribute::EndpointAttributeFilter;
pub use gpu_utilization::GpuUtilizationFilter;
pub use label_selector::LabelSelectorFilter;
