//! Puts the processes of one test together.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use headroom_testbed::{
    Companion, CompanionConfig, Envoy, EnvoyConfig, FakePool, Replica, binaries, http, wait,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long an answer may take while a test waits for a decision.
const PATIENCE: Duration = Duration::from_secs(2);

type Edit<T> = Box<dyn FnOnce(&mut T) -> anyhow::Result<()>>;

/// How a world shall be.
pub struct WorldBuilder {
    replicas: Vec<Replica>,
    workers: usize,
    envoy: Option<PathBuf>,
    template: &'static str,
    plugin: Vec<Edit<Value>>,
    companion: Vec<Edit<(Value, FakePoolView)>>,
    envoy_config: Vec<Edit<EnvoyConfig>>,
    start_companion: bool,
    engine: Value,
    pool_changes: Vec<(&'static str, Value)>,
}

/// What a companion's config may need to know of the fake pool.
#[derive(Clone, Debug)]
pub struct FakePoolView {
    /// Addresses by replica, in order.
    pub addresses: Vec<String>,
}

impl std::fmt::Debug for WorldBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorldBuilder").field("replicas", &self.replicas).finish_non_exhaustive()
    }
}

/// The processes of one test. Dropping it ends them.
#[derive(Debug)]
pub struct World {
    /// The model servers.
    pub pool: FakePool,
    /// The companion; `None` before [`World::start_companion`] if it was not to start.
    pub companion: Option<Companion>,
    /// Envoy.
    pub envoy: Envoy,
    /// A client for this test.
    pub client: reqwest::Client,
    companion_config: CompanionConfig,
    folder: TempDir,
}

/// An answer and the decision behind it.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The answer.
    pub answer: http::Answer,
    /// The decision, null when there was none.
    pub decision: Value,
}

impl Decided {
    /// What the decision says of a replica that was scored, by name.
    pub fn candidate(&self, name: &str) -> Option<&Value> {
        let candidates = self.decision.get("candidates")?.as_array()?;
        candidates.iter().find(|candidate| candidate.get("name") == Some(&json!(name)))
    }

    /// One scorer's part in a replica's total.
    pub fn score(&self, name: &str, scorer: &str) -> Option<&Value> {
        let scores = self.candidate(name)?.get("scores")?.as_array()?;
        scores.iter().find(|part| part.get("scorer") == Some(&json!(scorer)))
    }
}

impl World {
    /// A world with replicas of these names; two workers, the newest Envoy, everything started.
    pub fn of(names: &[&str]) -> WorldBuilder {
        WorldBuilder {
            replicas: names.iter().map(|name| Replica::new(name)).collect(),
            workers: 2,
            envoy: None,
            template: "envoy.yaml",
            plugin: Vec::new(),
            companion: Vec::new(),
            envoy_config: Vec::new(),
            start_companion: true,
            engine: json!({}),
            pool_changes: Vec::new(),
        }
    }

    /// The folder of this test's files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Envoy's access log.
    pub fn access_log(&self) -> PathBuf {
        self.folder.path().join("access.log")
    }

    /// Starts the companion and waits until Envoy has what it tells.
    ///
    /// # Errors
    /// When either does not come about.
    pub async fn start_companion(&mut self) -> anyhow::Result<()> {
        self.companion = Some(Companion::start(self.companion_config.clone(), self.folder.path()).await?);
        self.until_fed().await
    }

    /// Waits until Envoy's stream to the companion is live and has brought the endpoints.
    ///
    /// # Errors
    /// When that takes longer than ten seconds.
    pub async fn until_fed(&self) -> anyhow::Result<()> {
        let fed = |stats: &headroom_testbed::stats::Stats| {
            stats.get("headroom_feed_connected.cluster=headroom-companion") == 1
                && stats.get("headroom_pool_endpoints.pool=qwen") > 0
        };
        self.envoy.until_stats("the feed is live", Duration::from_secs(10), fed).await
    }

    /// The running companion.
    ///
    /// # Errors
    /// When it was not started.
    pub fn companion(&mut self) -> anyhow::Result<&mut Companion> {
        self.companion.as_mut().context("the companion was not started")
    }

    /// Sends a short chat request.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn chat(&self) -> anyhow::Result<Decided> {
        self.post("/v1/chat/completions", http::chat("hello", 2, false).to_string()).await
    }

    /// Posts a body.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> anyhow::Result<Decided> {
        self.send(self.client.post(self.url(path)).header("content-type", "application/json").body(body))
            .await
    }

    /// Sends any request.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn send(&self, request: reqwest::RequestBuilder) -> anyhow::Result<Decided> {
        let answer = http::send(request).await?;
        let decision = serde_json::from_str(answer.header("x-headroom-decision")).unwrap_or_default();
        Ok(Decided { answer, decision })
    }

    /// The URL of a path at Envoy.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.envoy.url())
    }

    /// Sends chat requests until one's decision meets `condition`.
    ///
    /// # Errors
    /// When none does within `deadline`.
    pub async fn until_decision(
        &self,
        what: &str,
        deadline: Duration,
        condition: impl Fn(&Decided) -> bool,
    ) -> anyhow::Result<Decided> {
        let condition = &condition;
        let last = std::sync::Mutex::new(None);
        let look = || async {
            // A request may be sent where it waits for long; the next one is decided anew.
            let decided = tokio::time::timeout(PATIENCE, self.chat()).await.ok()?.ok()?;
            if let Ok(mut last) = last.lock() {
                *last = Some(decided.clone());
            }
            condition(&decided).then_some(decided)
        };
        let found = wait::until(what, deadline, look).await;
        found.with_context(|| format!("the last decision: {last:?}\n{}", self.envoy.process.log_tail()))
    }

    /// Waits until nothing is in flight: every gauge at zero.
    ///
    /// # Errors
    /// When some are not within ten seconds.
    pub async fn until_nothing_in_flight(&self) -> anyhow::Result<()> {
        let idle = |stats: &headroom_testbed::stats::Stats| {
            let mut gauges = stats.starting_with("headroom_inflight_requests").peekable();
            gauges.peek().is_some() && gauges.all(|(_, count)| count == 0)
        };
        self.envoy.until_stats("every in-flight count is zero", Duration::from_secs(10), idle).await
    }
}

impl WorldBuilder {
    /// Envoy's worker threads.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Another Envoy.
    #[must_use]
    pub fn envoy(mut self, binary: Option<PathBuf>) -> Self {
        self.envoy = binary;
        self
    }

    /// Another file of `envoy/`.
    #[must_use]
    pub fn template(mut self, name: &'static str) -> Self {
        self.template = name;
        self
    }

    /// Load of a noisy neighbour on each replica's GPU, in order.
    #[must_use]
    pub fn gpu_load(mut self, loads: &[f64]) -> Self {
        for (replica, load) in self.replicas.iter_mut().zip(loads) {
            replica.gpu_load = *load;
        }
        self
    }

    /// Settings of the replicas' queueing model.
    #[must_use]
    pub fn engine(mut self, engine: Value) -> Self {
        self.engine = engine;
        self
    }

    /// A change of a replica before anything else is started.
    #[must_use]
    pub fn replica(mut self, name: &'static str, change: Value) -> Self {
        self.pool_changes.push((name, change));
        self
    }

    /// Changes the plugin's config.
    #[must_use]
    pub fn plugin(mut self, edit: impl FnOnce(&mut Value) + 'static) -> Self {
        self.plugin.push(Box::new(|plugin| {
            edit(plugin);
            Ok(())
        }));
        self
    }

    /// Has the pool schedule by this alone: `filters`, `scorers` and so on, or `plugins` and
    /// `schedulingProfiles`.
    #[must_use]
    pub fn scheduling(self, scheduling: Value) -> Self {
        self.plugin(move |plugin| {
            let pool = plugin.pointer_mut("/pools/0").and_then(Value::as_object_mut);
            if let (Some(pool), Value::Object(scheduling)) = (pool, scheduling) {
                pool.retain(|field, _| !["filters", "scorers", "picker"].contains(&field.as_str()));
                pool.extend(scheduling);
            }
        })
    }

    /// Labels of each endpoint, in order.
    #[must_use]
    pub fn labels(self, labels: Vec<Value>) -> Self {
        self.companion(move |config, _| {
            let endpoints = config.pointer_mut("/pools/0/endpoints").and_then(Value::as_array_mut);
            for (endpoint, labels) in endpoints.into_iter().flatten().zip(labels) {
                if let Some(endpoint) = endpoint.as_object_mut() {
                    endpoint.insert("labels".to_owned(), labels);
                }
            }
        })
    }

    /// Lets requests for the replica at `index` go to `address`; what is scraped stays the replica's.
    #[must_use]
    pub fn stand_in(self, index: usize, address: String) -> Self {
        self.companion(move |config, pool| {
            let endpoint = config.pointer_mut(&format!("/pools/0/endpoints/{index}"));
            let metrics = pool.addresses.get(index).map(|replica| format!("http://{replica}/metrics"));
            if let Some(endpoint) = endpoint.and_then(Value::as_object_mut) {
                endpoint.insert("metrics".to_owned(), metrics.into());
                endpoint.insert("address".to_owned(), address.into());
            }
        })
    }

    /// Changes the companion's config; it may need the replicas' addresses.
    #[must_use]
    pub fn companion(mut self, edit: impl FnOnce(&mut Value, &FakePoolView) + 'static) -> Self {
        self.companion.push(Box::new(|(config, pool)| {
            edit(config, pool);
            Ok(())
        }));
        self
    }

    /// Changes Envoy's config.
    #[must_use]
    pub fn envoy_config(
        mut self,
        edit: impl FnOnce(&mut EnvoyConfig) -> anyhow::Result<()> + 'static,
    ) -> Self {
        self.envoy_config.push(Box::new(edit));
        self
    }

    /// Leaves the companion to be started later.
    #[must_use]
    pub fn without_companion(mut self) -> Self {
        self.start_companion = false;
        self
    }

    /// Starts everything and waits until it works together.
    ///
    /// # Errors
    /// When something does not come up, with the end of its log.
    pub async fn start(self) -> anyhow::Result<World> {
        let folder = tempfile::tempdir()?;
        let pool = FakePool::start(self.replicas, self.engine, 1, folder.path()).await?;
        for (name, change) in self.pool_changes {
            pool.control(name, change).await?;
        }
        let mut companion_config = CompanionConfig::for_pool(&pool)?;
        let mut editable = (companion_config.json, FakePoolView { addresses: pool.addresses() });
        for edit in self.companion {
            edit(&mut editable)?;
        }
        companion_config.json = editable.0;

        let mut config = EnvoyConfig::load(self.template, &folder.path().join("access.log"))?;
        config.set_endpoints("headroom-companion", &[companion_config.feed().to_owned()])?;
        config.set_endpoints("qwen", &endpoints(&companion_config.json))?;
        if self.template == "envoy.yaml" {
            config.edit_plugin(show_decisions)?;
            for edit in self.plugin {
                let mut edited = Ok(());
                config.edit_plugin(|plugin| edited = edit(plugin))?;
                edited?;
            }
        }
        for edit in self.envoy_config {
            edit(&mut config)?;
        }
        let binary = self.envoy.map_or_else(binaries::envoy, Ok)?;
        let envoy = Envoy::start_binary(&binary, &config, self.workers, folder.path()).await?;
        let mut world =
            World { pool, companion: None, envoy, client: http::client(), companion_config, folder };
        if self.start_companion {
            world.start_companion().await?;
        }
        Ok(world)
    }
}

/// The addresses of the pool in a companion's config.
fn endpoints(config: &Value) -> Vec<String> {
    let endpoints = config.pointer("/pools/0/endpoints").and_then(Value::as_array).into_iter().flatten();
    endpoints.filter_map(|endpoint| Some(endpoint.get("address")?.as_str()?.to_owned())).collect()
}

/// Lets responses carry the decision, for the tests to read, and leaves no endpoint to chance.
pub fn show_decisions(plugin: &mut Value) {
    if let Some(pool) = plugin.pointer_mut("/pools/0").and_then(Value::as_object_mut) {
        pool.insert("explain".to_owned(), json!({"responseHeader": "x-headroom-decision"}));
        pool.insert("explorationProbability".to_owned(), json!(0));
    }
}
