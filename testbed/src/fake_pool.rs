//! A running `headroom fake-pool`.

use std::{collections::BTreeMap, path::Path, process::Command, time::Duration};

use anyhow::ensure;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Process, binaries};

/// One model server of a fake pool.
#[derive(Clone, Debug)]
pub struct Replica {
    /// Its name.
    pub name: String,
    /// 1 is normal, 0.5 half as fast.
    pub speed: f64,
    /// Load of a noisy neighbour on its GPU, 0 to 1.
    pub gpu_load: f64,
}

impl Replica {
    /// A replica of normal speed whose GPU is its own.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), speed: 1.0, gpu_load: 0.0 }
    }

    /// The identity of its GPU.
    pub fn gpu(&self) -> String {
        format!("GPU-{}", self.name)
    }
}

#[derive(Debug, Deserialize, Serialize)]
struct Addresses {
    exporter: String,
    endpoints: BTreeMap<String, String>,
}

/// Model servers and their GPU exporter.
#[derive(Debug)]
pub struct FakePool {
    /// The process.
    pub process: Process,
    /// The replicas, in the order given.
    pub replicas: Vec<Replica>,
    addresses: Addresses,
}

impl FakePool {
    /// Starts the replicas on ports of the system's choice and waits until they listen. `engine` are
    /// settings of the queueing model, see docs/configuration.md.
    ///
    /// # Errors
    /// When they do not listen, with the end of the log.
    pub async fn start(
        replicas: Vec<Replica>,
        engine: Value,
        seed: u64,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let endpoints: Vec<Value> = replicas
            .iter()
            .enumerate()
            .map(|(index, replica)| {
                json!({
                    "name": replica.name, "listen": "127.0.0.1:0", "speed": replica.speed, "gpuLoad": replica.gpu_load,
                    "gpu": {"uuid": replica.gpu(), "index": index},
                })
            })
            .collect();
        let mut config = json!({
            "seed": seed, "model": "qwen", "exporter": {"listen": "127.0.0.1:0"}, "endpoints": endpoints,
        });
        if let (Some(config), Value::Object(engine)) = (config.as_object_mut(), engine) {
            config.extend(engine);
        }
        let path = folder.join("fake-pool.json");
        std::fs::write(&path, config.to_string())?;
        let addresses_path = folder.join("fake-pool.addresses");
        let _not_there = std::fs::remove_file(&addresses_path);
        let mut command = Command::new(binaries::headroom()?);
        command.arg("fake-pool").arg("--config").arg(path).arg("--addresses-file").arg(&addresses_path);
        let mut process = Process::start("fake-pool", command, folder)?;
        let read = || async { serde_json::from_slice(&std::fs::read(&addresses_path).ok()?).ok() };
        let addresses = process.until("the fake pool listens", Duration::from_secs(20), read).await?;
        Ok(Self { process, replicas, addresses })
    }

    /// The replicas' addresses, in the order given.
    pub fn addresses(&self) -> Vec<String> {
        self.replicas.iter().map(|replica| self.address(&replica.name)).collect()
    }

    /// The address of a replica, empty if there is none of that name.
    pub fn address(&self, name: &str) -> String {
        self.addresses.endpoints.get(name).cloned().unwrap_or_default()
    }

    /// The name of the replica at an address.
    pub fn name_of(&self, address: &str) -> Option<&str> {
        self.addresses.endpoints.iter().find(|(_, at)| *at == address).map(|(name, _)| name.as_str())
    }

    /// The exporter's metrics page.
    pub fn exporter_url(&self) -> String {
        format!("http://{}/metrics", self.addresses.exporter)
    }

    /// Changes how a replica behaves, for instance `{"gpuLoad": 0.95}`.
    ///
    /// # Errors
    /// When the pool refuses.
    pub async fn control(&self, name: &str, change: Value) -> anyhow::Result<()> {
        self.post(&format!("/control/{name}"), &change).await
    }

    /// Changes how the exporter behaves, for instance `{"exporter": "stall"}`.
    ///
    /// # Errors
    /// When the pool refuses.
    pub async fn control_exporter(&self, change: Value) -> anyhow::Result<()> {
        self.post("/control", &change).await
    }

    /// What the replicas are doing, by name.
    ///
    /// # Errors
    /// When the pool does not answer.
    pub async fn state(&self) -> anyhow::Result<Value> {
        let text = reqwest::get(format!("http://{}/control", self.addresses.exporter)).await?.text().await?;
        Ok(serde_json::from_str(&text)?)
    }

    async fn post(&self, path: &str, change: &Value) -> anyhow::Result<()> {
        let url = format!("http://{}{path}", self.addresses.exporter);
        let request = reqwest::Client::new().post(url).header("content-type", "application/json");
        let response = request.body(change.to_string()).send().await?;
        let status = response.status();
        ensure!(status.is_success(), "{change}: {status} {}", response.text().await?);
        Ok(())
    }
}
