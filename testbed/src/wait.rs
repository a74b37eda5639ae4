//! Waiting on a condition, with a deadline.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use anyhow::bail;

/// How often a condition is looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// Waits until `condition` gives a value.
///
/// # Errors
/// When it has not within `deadline`; `what` says what was waited for.
pub async fn until<T, F: Future<Output = Option<T>>>(
    what: &str,
    deadline: Duration,
    mut condition: impl FnMut() -> F,
) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return Ok(value);
        }
        if begun.elapsed() > deadline {
            bail!("waited {deadline:?} in vain until {what}");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
