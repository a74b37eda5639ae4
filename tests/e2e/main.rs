//! What users rely on, in real Envoy with real processes.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bodies;
mod companion_loss;
mod config_change;
mod discovery;
mod exceptions;
mod health;
mod inflight;
mod loading;
mod profiles;
mod retries;
mod routing;
mod sessions;
mod steering;
mod streaming;
mod traps;

use std::path::PathBuf;

/// The oldest Envoy that is tested; `scripts/test.sh` installs it.
fn oldest() -> Option<PathBuf> {
    Some(
        std::env::var_os("HEADROOM_ENVOY_OLDEST")
            .expect("HEADROOM_ENVOY_OLDEST is set by scripts/test.sh")
            .into(),
    )
}

/// Makes each scenario two tests: on the newest and on the oldest Envoy.
macro_rules! on_both_envoys {
    ($($name:ident),*) => {
        mod newest { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() -> headroom_tests::Outcome { super::$name(None).await })* }
        mod oldest { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() -> headroom_tests::Outcome { super::$name(crate::oldest()).await })* }
    };
}
pub(crate) use on_both_envoys;
