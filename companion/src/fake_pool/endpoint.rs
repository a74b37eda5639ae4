//! One model server: the engine, in real time, and who waits for its tokens.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{
    config::{EndpointConfig, Gpu},
    control::{EndpointChange, MetricsMode},
    engine::{Engine, Limits, Produced, Refused, RequestId, Submission},
};

/// A model server.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// Unique in the pool.
    pub(crate) name: String,
    /// Names that are served, at least one.
    pub(crate) models: Vec<String>,
    /// Tokens for a request that says no number.
    pub(crate) default_output_tokens: usize,
    /// What the engine holds.
    pub(crate) limits: Limits,
    /// Its GPU.
    pub(crate) gpu: Gpu,
    started: Instant,
    state: Mutex<State>,
    work: Notify,
}

/// What changes.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) engine: Engine,
    /// How `/metrics` answers.
    pub(crate) metrics: MetricsMode,
    /// Whether requests are taken and never answered.
    pub(crate) hang: bool,
    readers: HashMap<RequestId, mpsc::UnboundedSender<Produced>>,
    produced: Vec<Produced>,
}

/// A request under way. Dropping it cancels the request.
#[derive(Debug)]
pub(crate) struct Ticket {
    endpoint: Arc<Endpoint>,
    request: RequestId,
    tokens: mpsc::UnboundedReceiver<Produced>,
}

impl Endpoint {
    /// An idle one.
    pub(crate) fn new(config: EndpointConfig) -> Arc<Self> {
        let EndpointConfig {
            name,
            listen: _,
            models,
            default_output_tokens,
            limits,
            timing,
            condition,
            seed,
            gpu,
        } = config;
        let state = State {
            engine: Engine::new(limits.clone(), timing, condition, seed),
            metrics: MetricsMode::Ok,
            hang: false,
            readers: HashMap::new(),
            produced: Vec::new(),
        };
        Arc::new(Self {
            name,
            models,
            default_output_tokens,
            limits,
            gpu,
            started: Instant::now(),
            state: Mutex::new(state),
            work: Notify::new(),
        })
    }

    /// The state, for as long as the guard lives; never across an await.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine's time.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Takes a request that arrives now.
    ///
    /// # Errors
    /// When it could never be served, or too many requests wait.
    pub(crate) fn submit(self: &Arc<Self>, submission: Submission) -> Result<Ticket, Refused> {
        let (sender, tokens) = mpsc::unbounded_channel();
        let mut state = self.state();
        let idle = state.engine.wake_at().is_none();
        let request = state.engine.submit(submission, self.now())?;
        state.readers.insert(request, sender);
        drop(state);
        if idle {
            self.work.notify_one();
        }
        Ok(Ticket { endpoint: Arc::clone(self), request, tokens })
    }

    /// Changes what can be changed while it runs.
    pub(crate) fn change(&self, change: &EndpointChange) {
        let mut state = self.state();
        let mut condition = state.engine.condition();
        condition.speed = change.speed.unwrap_or(condition.speed);
        condition.gpu_load = change.gpu_load.unwrap_or(condition.gpu_load);
        state.engine.set_condition(condition);
        state.metrics = change.metrics.unwrap_or(state.metrics);
        state.hang = change.hang.unwrap_or(state.hang);
    }

    /// Runs the engine; never ends.
    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            match self.advance() {
                Some(wake_at) => tokio::time::sleep_until(self.started + wake_at).await,
                None => self.work.notified().await,
            }
        }
    }

    /// Brings the engine up to now and hands out what it produced.
    fn advance(&self) -> Option<Duration> {
        let mut state = self.state();
        let State { engine, readers, produced, .. } = &mut *state;
        engine.advance(self.now(), produced);
        for token in produced.drain(..) {
            if let Some(reader) = readers.get(&token.request) {
                // A reader that is gone has cancelled its request, or is about to.
                let _gone = reader.send(token);
            }
            if token.last {
                readers.remove(&token.request);
            }
        }
        engine.wake_at()
    }
}

impl Ticket {
    /// Tells requests of this endpoint apart.
    pub(crate) fn request(&self) -> RequestId {
        self.request
    }

    /// The tokens as they are produced; closed after the last one.
    pub(crate) fn tokens(&mut self) -> &mut mpsc::UnboundedReceiver<Produced> {
        &mut self.tokens
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.endpoint.state();
        if state.readers.remove(&self.request).is_some() {
            state.engine.cancel(self.request);
        }
    }
}
