//! The loop of one target.

use std::{sync::Arc, time::Duration};

use headroom_datalayer::Timestamp;
use tokio::{sync::watch, time::Instant};

use super::{
    Fetcher, Health, TargetId, Targets,
    backoff::Schedule,
    error::ScrapeError,
    fetch::Fetched,
    ingest::{Ingest, Ingested},
    plan::Plan,
};
use crate::{
    admin::{ScrapeMetrics, TargetMetrics},
    clock,
    discovery::TargetKey,
    publish::Hub,
};

/// A longer text takes so long to read that it goes to a thread where nobody else waits.
const READ_IN_PLACE: usize = 128 << 10;

/// Scrapes one target, one scrape at a time.
#[derive(Debug)]
pub(super) struct Worker {
    id: TargetId,
    key: TargetKey,
    plan: watch::Receiver<Plan>,
    max_backoff: Duration,
    ingest: Option<Ingest>,
    fetcher: Arc<Fetcher>,
    hub: Arc<Hub>,
    targets: Arc<Targets>,
    metrics: TargetMetrics,
    /// When the target went bad.
    bad_since: Option<Instant>,
    has_notes: bool,
}

/// What came of a scrape.
type Outcome = Result<Ingested, ScrapeError>;

impl Worker {
    /// The loop of a target, for as long as there is a plan for it.
    #[expect(clippy::too_many_arguments, reason = "each is a part of its own, and there is one caller")]
    pub(super) fn new(
        id: TargetId,
        key: TargetKey,
        plan: watch::Receiver<Plan>,
        max_backoff: Duration,
        fetcher: Arc<Fetcher>,
        hub: Arc<Hub>,
        targets: Arc<Targets>,
        metrics: &ScrapeMetrics,
    ) -> Self {
        Self {
            id,
            plan,
            max_backoff,
            ingest: Some(Ingest::default()),
            fetcher,
            hub,
            targets,
            metrics: metrics.target(key.url.as_str()),
            key,
            bad_since: None,
            has_notes: false,
        }
    }

    /// Scrapes until the task is ended. Ends by itself only when reading a scrape panicked.
    pub(super) async fn run(mut self) {
        tokio::time::sleep(self.schedule().first(fastrand::f64())).await;
        let mut failures = 0_u32;
        loop {
            let started = Instant::now();
            let sent_at = clock::now();
            let Some(outcome) = self.scrape(sent_at).await else {
                std::panic::resume_unwind(Box::new("reading a scrape panicked"));
            };
            let elapsed = started.elapsed();
            failures = if outcome.is_err() { failures.saturating_add(1) } else { 0 };
            self.report(outcome, sent_at, elapsed, failures);
            let schedule = self.schedule();
            let pause = match failures {
                0 => schedule.after_success(elapsed, fastrand::f64()),
                _ => schedule.after_failure(failures, fastrand::f64()),
            };
            tokio::time::sleep(pause).await;
        }
    }

    fn schedule(&self) -> Schedule {
        let interval = self.plan.borrow().pace.interval;
        Schedule { interval, max_backoff: self.max_backoff.max(interval) }
    }

    /// One scrape; `None` when reading it panicked.
    async fn scrape(&mut self, sent_at: Timestamp) -> Option<Outcome> {
        let timeout = self.plan.borrow().pace.timeout;
        let fetched = self.fetcher.fetch(&self.key, timeout).await;
        let mut ingest = self.ingest.take()?;
        ingest.follow(&self.plan.borrow_and_update().consumers);
        let Fetched { text, notes } = match fetched {
            Ok(fetched) => fetched,
            Err(error) => {
                self.ingest = Some(ingest);
                return Some(Err(error));
            }
        };
        let (ingest, read) = if text.len() <= READ_IN_PLACE {
            let read = ingest.read(&text, sent_at);
            (ingest, read)
        } else {
            let reading = move || {
                let read = ingest.read(&text, sent_at);
                (ingest, read)
            };
            tokio::task::spawn_blocking(reading).await.ok()?
        };
        self.ingest = Some(ingest);
        Some(read.map(|mut ingested| {
            ingested.notes.extend(notes);
            ingested
        }))
    }

    /// Hands the values on, and tells people about the target.
    fn report(&mut self, outcome: Outcome, sent_at: Timestamp, elapsed: Duration, failures: u32) {
        let (result, error) = match &outcome {
            Ok(Ingested { nothing_known: Some(what), .. }) => ("nothing_known", Some((*what).to_owned())),
            Ok(_) => ("ok", None),
            Err(error) => (error.kind(), Some(error.to_string())),
        };
        let unreadable = match &outcome {
            Ok(ingested) => ingested.parse_errors,
            Err(error) => error.unreadable_lines(),
        };
        self.metrics.scraped(result, elapsed, unreadable);
        let ingested = outcome.unwrap_or_else(|error| self.failed(&error, sent_at));
        self.log(error.as_deref(), &ingested.notes);
        let first = self.targets.update(self.id, |state| {
            let first = state.health == Health::Untried;
            state.health = if error.is_none() { Health::Good } else { Health::Bad };
            state.last_duration = Some(elapsed);
            state.failures = failures;
            state.scrapes += 1;
            if error.is_none() {
                state.last_success = Some(sent_at);
            } else {
                state.last_error = error;
            }
            if failures == 0 {
                state.parse_errors = ingested.parse_errors;
                state.notes = ingested.notes;
                state.unmatched_gpus = ingested.unmatched_gpus;
                state.kind = ingested.kind;
            }
            first
        });
        for (pool, changes) in ingested.changes {
            self.hub.submit(pool, changes);
        }
        if first == Some(true) {
            let pools = self.plan.borrow().pools();
            for pool in pools {
                self.hub.target_tried(pool, self.id);
            }
        }
    }

    /// What a failure says of the endpoints.
    fn failed(&mut self, error: &ScrapeError, at: Timestamp) -> Ingested {
        let refused = matches!(error, ScrapeError::Connect(_));
        match (&mut self.ingest, self.key.url.host_str(), self.key.url.port_or_known_default()) {
            (Some(ingest), Some(host), Some(port)) if refused => {
                ingest.refused(&format!("{host}:{port}"), at)
            }
            _ => Ingested::default(),
        }
    }

    /// One line when the target goes bad and one when it recovers, and one when a good target starts
    /// to hold something that cannot be used.
    fn log(&mut self, error: Option<&str>, notes: &[String]) {
        let target = self.key.url.as_str();
        match (error, self.bad_since) {
            (Some(error), None) => {
                self.bad_since = Some(Instant::now());
                tracing::warn!(target_url = target, "target is bad: {error}");
            }
            (None, Some(since)) => {
                self.bad_since = None;
                let seconds = since.elapsed().as_secs_f64();
                tracing::info!(target_url = target, "target is good again after {seconds:.1}s");
            }
            _ => {}
        }
        if error.is_none() {
            if let Some(first) = notes.first().filter(|_| !self.has_notes) {
                tracing::warn!(
                    target_url = target,
                    "not all is as it should be: {first} ({} in all)",
                    notes.len()
                );
            }
            self.has_notes = !notes.is_empty();
        }
    }
}
