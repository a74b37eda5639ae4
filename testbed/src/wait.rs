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
    condition: impl FnMut() -> F,
) -> anyhow::Result<T> {
    until_or(what, deadline, condition, || Ok(())).await
}

/// The same, given up early when `hopeless` gives an error.
///
/// # Errors
/// That error; or when the condition gave no value within `deadline`.
pub(crate) async fn until_or<T, F: Future<Output = Option<T>>>(
    what: &str,
    deadline: Duration,
    mut condition: impl FnMut() -> F,
    mut hopeless: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        // A look that hangs, at a server that is stopped for instance, must not outlast the deadline.
        let left = deadline.saturating_sub(begun.elapsed());
        if let Ok(Some(value)) = tokio::time::timeout(left, condition()).await {
            return Ok(value);
        }
        hopeless()?;
        if begun.elapsed() >= deadline {
            bail!("waited {deadline:?} in vain until {what}");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_look_that_hangs_does_not_outlast_the_deadline() {
        let error = until("it answers", Duration::from_millis(50), std::future::pending::<Option<()>>).await;
        assert_eq!(error.expect_err("it never does").to_string(), "waited 50ms in vain until it answers");
    }

    #[tokio::test]
    async fn hopelessness_ends_the_wait() {
        let never = || async { None::<()> };
        let hopeless = || bail!("it has ended");
        let error = until_or("it answers", Duration::from_secs(600), never, hopeless).await;
        assert_eq!(error.expect_err("it never does").to_string(), "it has ended");
    }
}
