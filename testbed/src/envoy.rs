//! A running Envoy.

use std::{path::Path, process::Command, time::Duration};

use anyhow::Context;
use serde_json::Value;

use crate::stats::Stats;
use crate::{EnvoyConfig, Process, binaries, wait};

/// Envoy with one listener.
#[derive(Debug)]
pub struct Envoy {
    /// The process.
    pub process: Process,
    admin: String,
    listener: String,
}

impl Envoy {
    /// Starts Envoy with `workers` worker threads and waits until it serves.
    ///
    /// # Errors
    /// When it does not serve within a minute, with the end of its log.
    pub async fn start(config: &EnvoyConfig, workers: usize, folder: &Path) -> anyhow::Result<Self> {
        Self::start_binary(&binaries::envoy()?, config, workers, folder).await
    }

    /// The same with another Envoy.
    ///
    /// # Errors
    /// When it does not serve within a minute, with the end of its log.
    pub async fn start_binary(
        binary: &Path,
        config: &EnvoyConfig,
        workers: usize,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let admin_path = folder.join("admin.address");
        let _not_there = std::fs::remove_file(&admin_path);
        let mut command = Command::new(binary);
        command
            .arg("--config-path")
            .arg(config.write(folder)?)
            .arg("--admin-address-path")
            .arg(&admin_path)
            .args(["--disable-hot-restart", "--log-level", "warning", "--component-log-level", "wasm:info"])
            .args(["--concurrency", &workers.to_string()]);
        let mut process = Process::start("envoy", command, folder)?;
        let look = || look(&admin_path);
        let (admin, listener) = process.until("Envoy serves", Duration::from_secs(60), look).await?;
        Ok(Self { process, admin, listener })
    }

    /// Where requests are sent: `http://ip:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.listener)
    }

    /// Where requests are sent: `ip:port`.
    pub fn listener(&self) -> &str {
        &self.listener
    }

    /// Where the admin interface is: `ip:port`.
    pub fn admin(&self) -> &str {
        &self.admin
    }

    /// What the admin interface answers to a GET of `path`.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ask(&self, path: &str) -> anyhow::Result<String> {
        Ok(reqwest::get(format!("http://{}{path}", self.admin)).await?.text().await?)
    }

    /// Counters and gauges of the module.
    ///
    /// # Errors
    /// When the admin interface does not answer.
    pub async fn stats(&self) -> anyhow::Result<Stats> {
        Ok(Stats::parse(&self.ask("/stats?filter=headroom|extension_config|http.inference").await?))
    }

    /// Waits until the module's stats meet a condition.
    ///
    /// # Errors
    /// When they do not within `deadline`.
    pub async fn until_stats(
        &self,
        what: &str,
        deadline: Duration,
        condition: impl Fn(&Stats) -> bool,
    ) -> anyhow::Result<()> {
        let condition = &condition;
        let look = || async move { self.stats().await.ok().filter(|stats| condition(stats)).map(|_| ()) };
        match wait::until(what, deadline, look).await {
            Ok(()) => Ok(()),
            Err(error) => {
                Err(error.context(format!("{:?}\n{}", self.stats().await?, self.process.log_tail())))
            }
        }
    }
}

async fn look(admin_path: &Path) -> Option<(String, String)> {
    let admin = std::fs::read_to_string(admin_path).ok().filter(|text| !text.is_empty())?;
    let ready = reqwest::get(format!("http://{admin}/ready")).await.ok()?;
    if !ready.status().is_success() {
        return None;
    }
    let listeners =
        reqwest::get(format!("http://{admin}/listeners?format=json")).await.ok()?.text().await.ok()?;
    listener(&listeners).ok().map(|listener| (admin, listener))
}

fn listener(json: &str) -> anyhow::Result<String> {
    let listeners: Value = serde_json::from_str(json)?;
    let socket =
        listeners.pointer("/listener_statuses/0/local_address/socket_address").context("no listener")?;
    let part = |name: &str| socket.get(name).with_context(|| format!("no {name}"));
    Ok(format!("{}:{}", part("address")?.as_str().unwrap_or_default(), part("port_value")?))
}
