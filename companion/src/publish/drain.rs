//! How a stream ends when the process is told to stop.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// How long streams go on after the process was told to stop. In this time it becomes known that it takes no new
/// ones, so that readers find another publisher at once.
pub(super) const DRAIN: Duration = Duration::from_secs(1);

/// When one stream ends. Not all end at once, so that not all readers come to another publisher at once.
#[derive(Debug)]
pub(super) struct Drain {
    stopping: watch::Receiver<bool>,
    ends_at: Option<Instant>,
}

impl Drain {
    pub(super) fn new(stopping: watch::Receiver<bool>) -> Self {
        Self { stopping, ends_at: None }
    }

    /// Waits until the stream is to end.
    pub(super) async fn over(&mut self) {
        told(&mut self.stopping).await;
        let ends_at =
            *self.ends_at.get_or_insert_with(|| Instant::now() + DRAIN.mul_f64(0.5 + 0.5 * fastrand::f64()));
        sleep_until(ends_at).await;
    }
}

/// Waits until the process is told to stop.
pub(super) async fn told(stopping: &mut watch::Receiver<bool>) {
    let _told = stopping.wait_for(|stopping| *stopping).await;
}
