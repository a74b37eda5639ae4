//! The forms in which state travels.
//!
//! * [`feed`]: the public protobuf API between a publisher and Envoy (`proto/headroom/v1/feed.proto`).
//! * [`convert`]: between that API and the data layer's [`Update`](headroom_datalayer::Update).
//! * [`shared`]: MessagePack for what the feed leaves in Envoy's shared data for the workers.

pub mod convert;
pub mod shared;

/// The generated form of `proto/headroom/v1/feed.proto`.
#[cfg_attr(
    feature = "service",
    expect(clippy::allow_attributes, clippy::allow_attributes_without_reason, reason = "generated code")
)]
pub mod feed {
    include!("generated/headroom.v1.rs");
}
