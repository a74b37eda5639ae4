//! When to stop.

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

/// Waits until the process is told to stop; says by what.
///
/// # Errors
/// When the system does not deliver signals.
pub(crate) async fn told_to_stop() -> anyhow::Result<&'static str> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    tokio::select! {
        _ = terminate.recv() => Ok("SIGTERM"),
        _ = interrupt.recv() => Ok("SIGINT"),
    }
}
