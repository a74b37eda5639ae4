//! The pool and the load: four replicas, of which one has a noisy neighbour on its GPU and one is slow.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use headroom_testbed::load::{self, Report, Workload};
use headroom_testbed::{Companion, CompanionConfig, Envoy, EnvoyConfig, FakePool, Replica, http};
use serde_json::{Value, json};

use crate::policy::Policy;

/// See the module.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) replicas: Vec<Replica>,
    pub(crate) workload: Workload,
    engine: Value,
}

/// Everything that runs under one policy.
#[derive(Debug)]
pub(crate) struct Processes {
    pub(crate) pool: FakePool,
    pub(crate) companion: Option<Companion>,
    pub(crate) envoy: Envoy,
    folder: PathBuf,
}

/// One policy's figures.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) policy: Policy,
    pub(crate) report: Report,
    /// Mean GPU utilisation under load by replica, 0 to 1.
    pub(crate) utilization: BTreeMap<String, f64>,
}

impl Scenario {
    pub(crate) fn new(seed: u64) -> Self {
        let mut replicas: Vec<Replica> = ["fast-1", "fast-2", "slow", "hot"].map(Replica::new).into();
        for replica in &mut replicas {
            match replica.name.as_str() {
                "slow" => replica.speed = 0.5,
                "hot" => replica.gpu_load = 0.95,
                _ => {}
            }
        }
        // A replica of normal speed serves about seven such requests a second.
        let workload = Workload {
            rate: 10.0,
            length: Duration::from_secs(22),
            prompt_tokens: 400,
            output_tokens: 50,
            seed,
        };
        let engine = json!({"maxRunning": 8, "kvBlocks": 2048, "stepMs": 8.0, "prefillMsPerToken": 0.12});
        Self { replicas, workload, engine }
    }

    /// Starts a fresh pool behind Envoy with `policy`.
    pub(crate) async fn start(&self, policy: Policy, folder: &Path) -> anyhow::Result<Processes> {
        let folder = folder.join(policy.name());
        let _not_there = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let pool =
            FakePool::start(self.replicas.clone(), self.engine.clone(), self.workload.seed, &folder).await?;
        let mut config = EnvoyConfig::load("envoy.yaml", &folder.join("access.log"))?;
        config.set_endpoints("qwen", &pool.addresses())?;
        let mut companion = None;
        if policy == Policy::Headroom {
            let companion_config = CompanionConfig::for_pool(&pool)?;
            config.set_endpoints("headroom-companion", &[companion_config.feed().to_owned()])?;
            companion = Some(Companion::start(companion_config, &folder).await?);
        } else {
            config.without_headroom();
            config.set_policy("qwen", policy.name())?;
        }
        let envoy = Envoy::start(&config, 2, &folder).await?;
        if companion.is_some() {
            let fed =
                |stats: &headroom_testbed::stats::Stats| stats.get("headroom_pool_endpoints.pool=qwen") > 0;
            envoy.until_stats("the companion feeds Envoy", Duration::from_secs(10), fed).await?;
        }
        Ok(Processes { pool, companion, envoy, folder })
    }

    /// Drives the load and measures.
    pub(crate) async fn measure(&self, policy: Policy, processes: &Processes) -> anyhow::Result<Run> {
        let plan = self.workload.plan();
        let client = http::client();
        let url = processes.envoy.url();
        let load = tokio::spawn(async move { load::run(&client, &url, plan).await });
        let utilization = self.watch(&processes.pool).await?;
        let outcomes = load.await?;
        let names: Vec<String> = self.replicas.iter().map(|replica| replica.name.clone()).collect();
        Ok(Run { policy, report: Report::new(&outcomes, &names), utilization })
    }

    /// Mean utilisation by replica while requests are sent.
    async fn watch(&self, pool: &FakePool) -> anyhow::Result<BTreeMap<String, f64>> {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        let mut seen = 0.0;
        let mut interval = tokio::time::interval(Duration::from_millis(500));
        let begun = tokio::time::Instant::now();
        while begun.elapsed() < self.workload.length {
            interval.tick().await;
            let state = pool.state().await?;
            seen += 1.0;
            for replica in &self.replicas {
                let at = format!("/endpoints/{}/utilization", replica.name);
                let utilization = state.pointer(&at).and_then(Value::as_f64).context("no utilization")?;
                *sums.entry(replica.name.clone()).or_default() += utilization;
            }
        }
        sums.values_mut().for_each(|sum| *sum /= seen);
        Ok(sums)
    }
}

impl Processes {
    pub(crate) fn access_log(&self) -> PathBuf {
        self.folder.join("access.log")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets them outlive this program.
    pub(crate) fn leave_running(self) -> anyhow::Result<()> {
        if let Some(companion) = self.companion {
            companion.process.leave_running()?;
        }
        self.pool.process.leave_running()?;
        self.envoy.process.leave_running()
    }

    /// Process ids.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let companion = self.companion.iter().map(|companion| companion.process.id());
        companion.chain([self.pool.process.id(), self.envoy.process.id()]).collect()
    }
}
