//! A running `headroom serve`.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{FakePool, Process, binaries, ports};

/// A companion's config, with the addresses it will have.
#[derive(Clone, Debug)]
pub struct CompanionConfig {
    /// The config as JSON; change it at will.
    pub json: Value,
    feed: String,
    admin: String,
}

impl CompanionConfig {
    /// A config for one pool, `qwen`, of all replicas of a fake pool.
    ///
    /// # Errors
    /// When there are no free ports.
    pub fn for_pool(pool: &FakePool) -> anyhow::Result<Self> {
        let endpoints: Vec<Value> = pool
            .replicas
            .iter()
            .map(|replica| {
                json!({
                    "address": pool.address(&replica.name), "name": replica.name, "engine": "vllm",
                    "labels": {"llm-d.ai/model-family": "qwen"},
                    "gpus": {"exporter": pool.exporter_url(), "uuids": [replica.gpu()]},
                })
            })
            .collect();
        Self::with_pools(&json!([{"name": "qwen", "endpoints": endpoints}]), "200ms")
    }

    /// A config for these pools, scraped at this interval.
    ///
    /// # Errors
    /// When there are no free ports.
    pub fn with_pools(pools: &Value, interval: &str) -> anyhow::Result<Self> {
        let (feed, admin) =
            (format!("127.0.0.1:{}", ports::free_port()?), format!("127.0.0.1:{}", ports::free_port()?));
        let json = json!({
            "feed": {"listen": feed}, "admin": {"listen": admin},
            "scrape": {"interval": interval, "timeout": "1s"},
            "pools": pools,
        });
        Ok(Self { json, feed, admin })
    }

    /// Where the feed will be.
    pub fn feed(&self) -> &str {
        &self.feed
    }
}

/// A companion.
#[derive(Debug)]
pub struct Companion {
    /// The process.
    pub process: Process,
    config: CompanionConfig,
    path: PathBuf,
    folder: PathBuf,
}

impl Companion {
    /// Starts a companion and waits until it is ready.
    ///
    /// # Errors
    /// When it is not, with the end of its log.
    pub async fn start(config: CompanionConfig, folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("companion.json");
        std::fs::write(&path, serde_json::to_vec_pretty(&config.json)?)?;
        let process = spawn(&path, folder)?;
        let mut companion = Self { process, config, path, folder: folder.to_path_buf() };
        companion.until_ready().await?;
        Ok(companion)
    }

    /// Starts it again on the same ports, after it has ended.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        self.process.kill();
        self.process = spawn(&self.path, &self.folder)?;
        self.until_ready().await
    }

    /// Where the feed is: `ip:port`.
    pub fn feed(&self) -> &str {
        self.config.feed()
    }

    /// Where the admin interface is: `ip:port`.
    pub fn admin(&self) -> &str {
        &self.config.admin
    }

    /// What the admin interface answers to a GET of `path`.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn ask(&self, path: &str) -> anyhow::Result<String> {
        Ok(reqwest::get(format!("http://{}{path}", self.config.admin)).await?.text().await?)
    }

    async fn until_ready(&mut self) -> anyhow::Result<()> {
        let url = format!("http://{}/readyz", self.config.admin);
        let look = || async { reqwest::get(&url).await.ok()?.status().is_success().then_some(()) };
        self.process.until("the companion is ready", Duration::from_secs(20), look).await
    }
}

fn spawn(config: &Path, folder: &Path) -> anyhow::Result<Process> {
    let mut command = Command::new(binaries::headroom()?);
    command.arg("serve").arg("--config").arg(config);
    Process::start("companion", command, folder)
}
