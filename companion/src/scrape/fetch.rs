//! One HTTP request for a target's metrics.

use std::{borrow::Cow, error::Error, io, time::Duration};

use axum::http::{Request, StatusCode, header};
use bytes::Bytes;
use http_body_util::Empty;
use hyper_util::client::legacy;

use super::{
    body::{self, Packing},
    clients::Clients,
    error::ScrapeError,
};
use crate::{
    config,
    discovery::TargetKey,
    tls::{causes, handshake_fault},
};

/// What exporters are asked for. Some that hear of OpenMetrics send it whatever the preference; the
/// older format costs them less and says the same.
const ACCEPT: &str = "text/plain;version=0.0.4,*/*;q=0.1";
const USER_AGENT: &str = concat!("headroom/", env!("CARGO_PKG_VERSION"));

/// What a target said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// Bytes that are not UTF-8 are replaced: they can only be inside labels.
    pub(crate) text: String,
    /// What is wrong although the target answered.
    pub(crate) notes: Vec<String>,
}

/// Fetches metrics, over connections that stay open.
#[derive(Debug)]
pub(crate) struct Fetcher {
    clients: Clients,
    max_bytes: usize,
}

impl Fetcher {
    /// A fetcher with the config's limits. It follows no redirects and uses no proxy: a target is
    /// exactly the URL that the config names.
    ///
    /// # Errors
    /// When the cryptography cannot be set up.
    pub(crate) fn new(scrape: config::Scrape) -> Result<Self, String> {
        Ok(Self { clients: Clients::new()?, max_bytes: scrape.max_response_bytes })
    }

    /// The target's text.
    pub(crate) async fn fetch(&self, target: &TargetKey, timeout: Duration) -> Result<Fetched, ScrapeError> {
        match tokio::time::timeout(timeout, self.get(target)).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(ScrapeError::Timeout(timeout)),
        }
    }

    async fn get(&self, target: &TargetKey) -> Result<Fetched, ScrapeError> {
        let mut notes = Vec::new();
        let mut note = |problem: Option<String>| {
            notes.extend(problem.map(|problem| format!("{problem}; what it held before stays in use")));
        };
        let client = match target.url.scheme() {
            "https" => {
                let current = self.clients.secure(&target.access).await.map_err(ScrapeError::AuthFile)?;
                note(current.problem);
                Cow::Owned(current.value)
            }
            _ => Cow::Borrowed(self.clients.plain()),
        };
        let mut request = Request::get(target.url.as_str())
            .header(header::ACCEPT, ACCEPT)
            .header(header::ACCEPT_ENCODING, "gzip")
            .header(header::USER_AGENT, USER_AGENT);
        if let Some(file) = &target.access.bearer_token {
            let current = self.clients.bearer(file).await.map_err(ScrapeError::AuthFile)?;
            note(current.problem);
            request = request.header(header::AUTHORIZATION, current.value);
        }
        let request = request.body(Empty::<Bytes>::new());
        let request = request.map_err(|error| ScrapeError::Connect(format!("no such URL: {error}")))?;
        let response = client.request(request).await.map_err(|error| failure(&error))?;
        if response.status() != StatusCode::OK {
            return Err(ScrapeError::Status(response.status()));
        }
        let packing = Packing::of(response.headers())?;
        let bytes = body::read(response.into_body(), packing, self.max_bytes).await?;
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Fetched { text, notes })
    }
}

/// What ended a request before there was an answer.
fn failure(error: &legacy::Error) -> ScrapeError {
    if let Some(fault) = handshake_fault(error) {
        return ScrapeError::Tls(fault);
    }
    if !error.is_connect() {
        return ScrapeError::Transport(root_cause(error));
    }
    // Only a handshake can end like this before there is a connection.
    let broke_off = causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::UnexpectedEof);
    match broke_off {
        true => ScrapeError::Tls("it ended the handshake".to_owned()),
        false => ScrapeError::Connect(root_cause(error)),
    }
}

/// The innermost error: the outer ones only say that there is one.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}
