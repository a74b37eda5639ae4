//! Everything that runs: the listeners, the engines and the exporter.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;
use axum::{Router, serve::ListenerExt};
use serde::Serialize;
use tokio::{net::TcpListener, task::JoinSet};

use super::{api, config::Config, control::ExporterMode, endpoint::Endpoint, exporter};

/// The pool as the exporter and the control interface see it.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) hostname: String,
    pub(crate) endpoints: Vec<Arc<Endpoint>>,
    exporter_mode: Mutex<ExporterMode>,
}

impl Pool {
    pub(crate) fn exporter_mode(&self) -> ExporterMode {
        *self.exporter_mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_exporter_mode(&self, mode: ExporterMode) {
        *self.exporter_mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }
}

/// Where everything listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Addresses {
    /// The exporter and the control interface.
    pub(crate) exporter: SocketAddr,
    /// The model servers by name.
    pub(crate) endpoints: BTreeMap<String, SocketAddr>,
}

impl Addresses {
    /// Writes them as JSON; a reader sees the whole file or none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let mut unfinished = file.as_os_str().to_owned();
        unfinished.push(".unfinished");
        std::fs::write(&unfinished, serde_json::to_vec_pretty(self)?)
            .and_then(|()| std::fs::rename(&unfinished, file))
            .with_context(|| format!("cannot write the addresses to {}", file.display()))
    }
}

/// A pool that serves. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) addresses: Addresses,
    tasks: JoinSet<std::io::Result<()>>,
}

impl Running {
    /// Listens everywhere, then serves.
    ///
    /// # Errors
    /// When an address cannot be listened on.
    pub(crate) async fn start(config: Config) -> anyhow::Result<Self> {
        let (exporter_listener, exporter) = listen(config.exporter, "the exporter").await?;
        let mut addresses = Addresses { exporter, endpoints: BTreeMap::new() };
        let mut servers = Vec::new();
        for endpoint in config.endpoints {
            let (listener, address) = listen(endpoint.listen, &endpoint.name).await?;
            addresses.endpoints.insert(endpoint.name.clone(), address);
            servers.push((listener, Endpoint::new(endpoint)));
        }
        let pool = Arc::new(Pool {
            hostname: config.hostname,
            endpoints: servers.iter().map(|(_, endpoint)| Arc::clone(endpoint)).collect(),
            exporter_mode: Mutex::new(ExporterMode::Ok),
        });
        let mut tasks = JoinSet::new();
        for (listener, endpoint) in servers {
            let engine = Arc::clone(&endpoint).run();
            tasks.spawn(async move {
                engine.await;
                Ok(())
            });
            serve(&mut tasks, listener, api::router(endpoint));
        }
        serve(&mut tasks, exporter_listener, exporter::router(pool));
        Ok(Self { addresses, tasks })
    }

    /// Waits for what should not happen: that a part ends.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<()> {
        match self.tasks.join_next().await {
            Some(Ok(Err(error))) => Err(error).context("a listener failed"),
            Some(Err(error)) => Err(error).context("a part of the pool failed"),
            Some(Ok(Ok(()))) | None => anyhow::bail!("a part of the pool ended"),
        }
    }
}

async fn listen(address: SocketAddr, what: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let refused = || format!("{what} cannot listen on {address}");
    let listener = TcpListener::bind(address).await.with_context(refused)?;
    let bound = listener.local_addr().with_context(refused)?;
    Ok((listener, bound))
}

fn serve(tasks: &mut JoinSet<std::io::Result<()>>, listener: TcpListener, router: Router) {
    // Tokens are small writes that must not wait for each other.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!("cannot set TCP_NODELAY: {error}");
        }
    });
    tasks.spawn(async move { axum::serve(listener, router).await });
}
