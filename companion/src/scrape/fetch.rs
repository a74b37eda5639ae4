//! One HTTP request for a target's metrics.

use std::time::Duration;

use headroom_exposition::LineError;
use reqwest::{Client, Response, StatusCode, Url, header, redirect};

use crate::{config, discovery::TargetKey};

/// What exporters are asked for. Some that hear of OpenMetrics send it whatever the preference; the
/// older format costs them less and says the same.
const ACCEPT: &str = "text/plain;version=0.0.4,*/*;q=0.1";
/// Longer than the longest interval, so that each scrape finds its connection open.
const KEEP_IDLE: Duration = Duration::from_secs(400);

/// Why a scrape failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScrapeError {
    /// No answer in time.
    #[error("no complete answer within {0:?}")]
    Timeout(Duration),
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// An answer other than 200.
    #[error("answered {0}")]
    Status(StatusCode),
    /// An answer longer than the limit.
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
    /// The connection broke.
    #[error("the answer broke off: {0}")]
    Transport(String),
    /// An answer without a single sample in it: how many lines cannot be read, and the first of them.
    #[error("the answer holds no metrics{}", describe(*unreadable, first.as_ref()))]
    NoSamples { unreadable: usize, first: Option<LineError> },
    /// An answer that is no list of models.
    #[error("the answer is no list of models: {0}")]
    NoModels(String),
}

impl ScrapeError {
    /// The kind of failure, for metrics.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Timeout(_) => "timeout",
            Self::Connect(_) => "connect",
            Self::Status(_) => "status",
            Self::TooLarge(_) => "too_large",
            Self::Transport(_) => "transport",
            Self::NoSamples { .. } => "no_samples",
            Self::NoModels(_) => "no_models",
        }
    }

    /// How many lines of the answer could not be read.
    pub(crate) fn unreadable_lines(&self) -> usize {
        if let Self::NoSamples { unreadable, .. } = self { *unreadable } else { 0 }
    }
}

fn describe(unreadable: usize, first: Option<&LineError>) -> String {
    first.map(|first| format!(": {unreadable} unreadable lines, the first is {first}")).unwrap_or_default()
}

/// Fetches metrics, over connections that stay open.
#[derive(Clone, Debug)]
pub(crate) struct Fetcher {
    client: Client,
    max_bytes: usize,
}

impl Fetcher {
    /// A fetcher with the config's limits. It follows no redirects and uses no proxy: a target is
    /// exactly the URL that the config names.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub(crate) fn new(scrape: config::Scrape) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .user_agent(concat!("headroom/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .pool_idle_timeout(KEEP_IDLE)
            .tcp_nodelay(true)
            .build()?;
        Ok(Self { client, max_bytes: scrape.max_response_bytes })
    }

    /// The target's text. Bytes that are not UTF-8 are replaced: they can only be inside labels.
    pub(crate) async fn fetch(&self, target: &TargetKey, timeout: Duration) -> Result<String, ScrapeError> {
        match tokio::time::timeout(timeout, self.get(&target.url)).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(ScrapeError::Timeout(timeout)),
        }
    }

    async fn get(&self, url: &Url) -> Result<String, ScrapeError> {
        let request = self.client.get(url.clone()).header(header::ACCEPT, ACCEPT);
        let response = request.send().await.map_err(|error| match error.is_connect() {
            true => ScrapeError::Connect(root_cause(&error)),
            false => ScrapeError::Transport(root_cause(&error)),
        })?;
        if response.status() != StatusCode::OK {
            return Err(ScrapeError::Status(response.status()));
        }
        let body = self.body(response).await?;
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, ScrapeError> {
        let too_large = ScrapeError::TooLarge(self.max_bytes);
        let announced =
            response.content_length().map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        if announced > self.max_bytes {
            return Err(too_large);
        }
        let mut body = Vec::with_capacity(announced);
        while let Some(chunk) =
            response.chunk().await.map_err(|error| ScrapeError::Transport(root_cause(&error)))?
        {
            if body.len() + chunk.len() > self.max_bytes {
                return Err(too_large);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// The innermost error: the outer ones only repeat the URL.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
