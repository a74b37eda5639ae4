//! The parts of a running companion.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, anyhow};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use crate::{
    admin::{self, Admin, Metrics},
    config::Config,
    discovery::{Coordinator, PoolSources, Sources},
    publish::{self, Hub},
    scrape::{Fetcher, Fleet, Targets},
};

/// How long open streams and requests may take to end.
const GRACE: Duration = Duration::from_secs(3);

/// A running companion. Dropping it ends everything at once.
#[derive(Debug)]
pub(crate) struct Running {
    /// Where the feed listens.
    pub(crate) feed: SocketAddr,
    /// Where the admin pages are.
    pub(crate) admin: SocketAddr,
    stop: watch::Sender<bool>,
    servers: JoinSet<anyhow::Result<()>>,
    workers: JoinSet<()>,
}

impl Running {
    /// Listens, and starts to scrape.
    ///
    /// # Errors
    /// When an address cannot be listened on.
    pub(crate) async fn start(config: Config) -> anyhow::Result<Self> {
        let feed_listener = listen("feed.listen", config.feed).await?;
        let admin_listener = listen("admin.listen", config.admin).await?;
        let (feed, admin) = (feed_listener.local_addr()?, admin_listener.local_addr()?);
        let fetcher = Fetcher::new(config.scrape).map_err(|error| anyhow!("no TLS: {error}"))?;

        let (stop, stopping) = watch::channel(false);
        let metrics = Arc::new(Metrics::new());
        let names: Vec<String> = config.pools.iter().map(|pool| pool.name.clone()).collect();
        let hub = Arc::new(Hub::new(names.clone(), fastrand::u64(1..)));
        let targets = Arc::new(Targets::new(names));
        let sources = Arc::new(Sources::default());

        let mut workers = JoinSet::new();
        let fleet = Fleet::new(
            fetcher,
            config.scrape.max_backoff,
            Arc::clone(&hub),
            Arc::clone(&targets),
            metrics.scrape.clone(),
        );
        let pools =
            config.pools.into_iter().map(|pool| PoolSources { pool: pool.name, sources: pool.sources });
        let coordinator = Coordinator::start(pools.collect(), Arc::clone(&hub), fleet, Arc::clone(&sources));
        workers.spawn(coordinator.run());
        let publisher = Arc::clone(&hub);
        workers.spawn(async move { publisher.run().await });

        let mut servers = JoinSet::new();
        let serving = publish::serve(feed_listener, Arc::clone(&hub), metrics.feed.clone(), stopping.clone());
        servers.spawn(async move { serving.await.context("the feed's server ended") });
        let serving = admin::serve(admin_listener, Admin { hub, targets, sources, metrics, stopping });
        servers.spawn(async move { serving.await.context("the admin server ended") });
        Ok(Self { feed, admin, stop, servers, workers })
    }

    /// Waits for a part to end, which none does unless something is broken.
    ///
    /// # Errors
    /// Always: with what ended.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            Some(ended) = self.servers.join_next() => {
                ended.context("a server panicked")??;
                Err(anyhow!("a server ended"))
            }
            Some(ended) = self.workers.join_next() => {
                ended.context("a scrape loop panicked")?;
                Err(anyhow!("a scrape loop ended"))
            }
        }
    }

    /// Ends the streams, waits for the servers for a short time, and ends the rest.
    pub(crate) async fn stop(mut self) {
        let _nobody_listens = self.stop.send(true);
        let ended = async { while self.servers.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            tracing::warn!("some connections did not end in {GRACE:?}");
        }
    }
}

async fn listen(path: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("{path}: {address}: cannot be listened on"))
}
