//! The parts of a running companion.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, anyhow};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinError, JoinSet},
};

use crate::{
    admin::{self, Admin, Metrics},
    config::{Config, Feed},
    discovery::{Coordinator, PoolSources, Sources},
    publish::{self, Hub, Settings},
    scrape::{Fetcher, Fleet, Targets},
    tls::watch_server,
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
    close: watch::Sender<bool>,
    feed_server: JoinSet<anyhow::Result<()>>,
    admin_server: JoinSet<anyhow::Result<()>>,
    workers: JoinSet<()>,
}

impl Running {
    /// Listens, and starts to scrape.
    ///
    /// # Errors
    /// When an address cannot be listened on, or the feed's TLS files cannot be used.
    pub(crate) async fn start(config: Config) -> anyhow::Result<Self> {
        let feed_listener = listen("feed.listen", config.feed.listen).await?;
        let admin_listener = listen("admin.listen", config.admin).await?;
        let (feed, admin) = (feed_listener.local_addr()?, admin_listener.local_addr()?);
        let fetcher = Fetcher::new(config.scrape).map_err(|error| anyhow!("no TLS: {error}"))?;

        let settings = settings(config.feed).await?;

        let (stop, stopping) = watch::channel(false);
        let (close, closing) = watch::channel(false);
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

        let (mut feed_server, mut admin_server) = (JoinSet::new(), JoinSet::new());
        let feed_metrics = metrics.feed.clone();
        let serving =
            publish::serve(feed_listener, settings, Arc::clone(&hub), feed_metrics, stopping.clone());
        feed_server.spawn(async move { serving.await.context("the feed's server ended") });
        let state = Admin { hub, targets, sources, metrics, stopping };
        let serving = admin::serve(admin_listener, state, closing);
        admin_server.spawn(async move { serving.await.context("the admin server ended") });
        Ok(Self { feed, admin, stop, close, feed_server, admin_server, workers })
    }

    /// Waits for a part to end, which none does unless something is broken.
    ///
    /// # Errors
    /// Always: with what ended.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            Some(ended) = self.feed_server.join_next() => server_ended(ended),
            Some(ended) = self.admin_server.join_next() => server_ended(ended),
            Some(ended) = self.workers.join_next() => {
                ended.context("a scrape loop panicked")?;
                Err(anyhow!("a scrape loop ended"))
            }
        }
    }

    /// Says that the process is not ready, ends the streams, waits for the servers for a short time, and ends the
    /// rest. What the process says of itself can be read until its streams have ended.
    pub(crate) async fn stop(mut self) {
        let _nobody_listens = self.stop.send(true);
        let ended = async {
            while self.feed_server.join_next().await.is_some() {}
            let _nobody_listens = self.close.send(true);
            while self.admin_server.join_next().await.is_some() {}
        };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            tracing::warn!("some connections did not end in {GRACE:?}");
        }
    }
}

fn server_ended(ended: Result<anyhow::Result<()>, JoinError>) -> anyhow::Result<()> {
    ended.context("a server panicked")??;
    Err(anyhow!("a server ended"))
}

async fn settings(feed: Feed) -> anyhow::Result<Settings> {
    let Feed { tls, max_subscribers, max_message_bytes, .. } = feed;
    let tls = tls.map(watch_server);
    if let Some(tls) = &tls {
        tls.current().await.map_err(|error| anyhow!("feed.tls: {error}"))?;
    }
    Ok(Settings { tls, max_subscribers, max_message_bytes })
}

async fn listen(path: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("{path}: {address}: cannot be listened on"))
}
