//! Deciders, one file each: whether a stage of a request is worth an endpoint of its own.

mod always;
mod prefix_based;

pub use always::{AlwaysDisaggMultimodalDecider, AlwaysDisaggPdDecider};
pub use prefix_based::PrefixBasedPdDecider;

#[cfg(test)]
mod tests;
