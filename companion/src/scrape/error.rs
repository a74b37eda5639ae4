//! Why a scrape failed.

use std::time::Duration;

use axum::http::StatusCode;
use headroom_exposition::LineError;

/// Why a scrape failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScrapeError {
    /// No answer in time.
    #[error("no complete answer within {0:?}")]
    Timeout(Duration),
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// TLS failed: what is wrong with a certificate, or who refuses whom.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// A file that the request needs cannot be used: its name and why.
    #[error("{0}")]
    AuthFile(String),
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
            Self::Tls(_) => "tls",
            Self::AuthFile(_) => "auth_file",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::RESULTS;

    /// The next variant in a chain of all.
    fn after(error: Option<&ScrapeError>) -> Option<ScrapeError> {
        Some(match error {
            None => ScrapeError::Timeout(Duration::ZERO),
            Some(ScrapeError::Timeout(_)) => ScrapeError::Connect(String::new()),
            Some(ScrapeError::Connect(_)) => ScrapeError::Tls(String::new()),
            Some(ScrapeError::Tls(_)) => ScrapeError::AuthFile(String::new()),
            Some(ScrapeError::AuthFile(_)) => ScrapeError::Status(StatusCode::OK),
            Some(ScrapeError::Status(_)) => ScrapeError::TooLarge(0),
            Some(ScrapeError::TooLarge(_)) => ScrapeError::Transport(String::new()),
            Some(ScrapeError::Transport(_)) => ScrapeError::NoSamples { unreadable: 0, first: None },
            Some(ScrapeError::NoSamples { .. }) => ScrapeError::NoModels(String::new()),
            Some(ScrapeError::NoModels(_)) => return None,
        })
    }

    #[test]
    fn every_kind_has_a_result_and_the_other_way_round() {
        let all = std::iter::successors(after(None), |error| after(Some(error)));
        let mut kinds: Vec<&str> = all.map(|error| error.kind()).chain(["ok", "nothing_known"]).collect();
        kinds.sort_unstable();
        let mut results = RESULTS.to_vec();
        results.sort_unstable();
        assert_eq!(kinds, results);
    }
}
