//! HTTP clients: one for each way in which targets are reached.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::HeaderValue;
use bytes::Bytes;
use http_body_util::Empty;
use hyper_rustls::HttpsConnector;
use hyper_util::{
    client::legacy::{Client as HttpClient, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use crate::{
    discovery::Access,
    tls::{Current, Watched, client_config, plain_config},
};

/// Longer than the longest interval, so that each scrape finds its connection open.
const KEEP_IDLE: Duration = Duration::from_secs(400);
/// More than any exporter's headers take; also what is read ahead of a body.
const MAX_HEAD: usize = 64 << 10;

/// Keeps its connections open.
pub(super) type Client = HttpClient<HttpsConnector<HttpConnector>, Empty<Bytes>>;

/// See the module. Clients and tokens are kept; there are as many as the config names.
#[derive(Debug)]
pub(super) struct Clients {
    plain: Client,
    secure: Mutex<BTreeMap<Access, Arc<Watched<Client>>>>,
    tokens: Mutex<BTreeMap<Arc<Path>, Arc<Watched<HeaderValue>>>>,
}

impl Clients {
    /// No secure client yet.
    ///
    /// # Errors
    /// When the cryptography cannot be set up.
    pub(super) fn new() -> Result<Self, String> {
        Ok(Self { plain: client(plain_config()?), secure: Mutex::default(), tokens: Mutex::default() })
    }

    /// The client for targets without TLS.
    pub(super) fn plain(&self) -> &Client {
        &self.plain
    }

    /// The client for targets with TLS that are reached like this.
    ///
    /// # Errors
    /// When a file never could be used: its name and why.
    pub(super) async fn secure(&self, access: &Access) -> Result<Current<Client>, String> {
        let setting = Access { bearer_token: None, ..access.clone() };
        let watched = {
            let mut known = self.secure.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(setting.clone()).or_insert_with(|| Arc::new(watch_client(setting))))
        };
        watched.current().await
    }

    /// The `Authorization` of a token file.
    ///
    /// # Errors
    /// When the file never could be used: its name and why.
    pub(super) async fn bearer(&self, file: &Arc<Path>) -> Result<Current<HeaderValue>, String> {
        let watched = {
            let mut known = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(Arc::clone(file)).or_insert_with(|| Arc::new(watch_token(file))))
        };
        watched.current().await
    }
}

fn watch_client(access: Access) -> Watched<Client> {
    let identity = access.identity.clone().into_iter().flat_map(|(cert, key)| [cert, key]);
    let files: Vec<Arc<Path>> = access.ca.iter().cloned().chain(identity).collect();
    Watched::new(files, move || client_config(&access).map(client))
}

fn watch_token(file: &Arc<Path>) -> Watched<HeaderValue> {
    let path = Arc::clone(file);
    Watched::new([Arc::clone(file)], move || bearer(&path))
}

/// Errors do not quote the file.
fn bearer(path: &Path) -> Result<HeaderValue, String> {
    let named = |reason: String| format!("{}: {reason}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(format!("cannot be read: {error}")))?;
    let token = text.trim();
    if token.is_empty() {
        return Err(named("holds no token".to_owned()));
    }
    let header = HeaderValue::try_from(format!("Bearer {token}"));
    let mut header =
        header.map_err(|_quotes_it| named("is no token: it holds control characters".to_owned()))?;
    header.set_sensitive(true);
    Ok(header)
}

fn client(tls: rustls::ClientConfig) -> Client {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    HttpClient::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(KEEP_IDLE)
        .http1_max_buf_size(MAX_HEAD)
        .build(HttpsConnector::from((http, tls)))
}
