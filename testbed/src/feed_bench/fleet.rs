//! Many engines and exporters in one server: each has an address of its own in 127.0.0.0/8.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::State, http::HeaderMap, routing::get};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::page;

/// How often the numbers change.
const TICK: Duration = Duration::from_millis(50);

/// The server.
#[derive(Debug)]
pub(crate) struct Fleet {
    port: u16,
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    answered: AtomicU64,
    bytes: AtomicU64,
    tick: AtomicU64,
}

impl Fleet {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("0.0.0.0:0").await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            answered: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            tick: AtomicU64::new(1),
        });
        let router = Router::new().route("/metrics", get(answer)).with_state(Arc::clone(&shared));
        let clock = Arc::clone(&shared);
        let tasks = vec![
            tokio::spawn(async move {
                let _served = axum::serve(listener, router).await;
            }),
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(TICK).await;
                    clock.tick.fetch_add(1, Ordering::Relaxed);
                }
            }),
        ];
        Ok(Self { port, shared, tasks })
    }

    /// The address of an engine.
    pub(crate) fn engine(&self, number: usize) -> String {
        format!("127.1.{}.{}:{}", number / 250, number % 250 + 1, self.port)
    }

    /// The address of an exporter.
    pub(crate) fn exporter(&self, number: usize) -> String {
        format!("127.2.{}.{}:{}", number / 250, number % 250 + 1, self.port)
    }

    /// How many scrapes were answered, and with how many bytes.
    pub(crate) fn answered(&self) -> (u64, u64) {
        (self.shared.answered.load(Ordering::Relaxed), self.shared.bytes.load(Ordering::Relaxed))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> String {
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    let tick = shared.tick.load(Ordering::Relaxed);
    let page = match host.parse().map(|address: SocketAddr| address.ip()) {
        Ok(IpAddr::V4(ip)) => {
            let [_, kind, high, low] = ip.octets();
            let number = usize::from(high) * 250 + usize::from(low.saturating_sub(1));
            if kind == 2 { page::exporter(number, tick) } else { page::engine(number, tick) }
        }
        _ => String::new(),
    };
    shared.answered.fetch_add(1, Ordering::Relaxed);
    shared.bytes.fetch_add(u64::try_from(page.len()).unwrap_or(0), Ordering::Relaxed);
    page
}
