//! A small world for each end-to-end test: a fake pool, a companion, a real Envoy, all of its own.

mod recorder;
mod world;

pub use recorder::{Recorder, checksum};
pub use world::{Decided, FakePoolView, World, WorldBuilder, show_decisions};

/// An end-to-end test fails with whatever went wrong.
pub type Outcome = anyhow::Result<()>;
