//! What a proxy knows, written down: for explanations, benches and tests.

use std::collections::BTreeMap;

use headroom_datalayer::Timestamp;

use super::{ColdPicks, Failing, Failures, InflightLoad, Local, PrefixMatch, PrefixMatches, Sessions};

/// By endpoint, in the order of the snapshot; of endpoints past the end of a list nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// When each request in flight was sent.
    pub sent: Vec<Vec<Timestamp>>,
    /// See [`InflightLoad::tokens`].
    pub tokens: Vec<Option<u64>>,
    /// See [`PrefixMatches::matched`].
    pub prefix: Vec<Option<PrefixMatch>>,
    /// Session id → address.
    pub sessions: BTreeMap<String, String>,
    /// See [`Sessions::token_key`].
    pub token_key: Option<Vec<u8>>,
    /// See [`Failures::failing`].
    pub failing: Vec<Option<Failing>>,
    /// See [`ColdPicks::last`].
    pub cold_picks: Vec<Option<Timestamp>>,
}

impl Known {
    /// As the scheduler takes it.
    pub fn local(&self) -> Local<'_> {
        Local { load: self, prefix: self, sessions: self, failures: self, cold_picks: self }
    }
}

impl InflightLoad for Known {
    fn requests(&self, endpoint: usize) -> u32 {
        self.requests_since(endpoint, Timestamp::default())
    }

    fn requests_since(&self, endpoint: usize, since: Timestamp) -> u32 {
        let sent = self.sent.get(endpoint).into_iter().flatten();
        u32::try_from(sent.filter(|at| **at >= since).count()).unwrap_or(u32::MAX)
    }

    fn tokens(&self, endpoint: usize) -> Option<u64> {
        self.tokens.get(endpoint).copied().flatten()
    }
}

impl PrefixMatches for Known {
    fn matched(&self, endpoint: usize) -> Option<PrefixMatch> {
        self.prefix.get(endpoint).copied().flatten()
    }
}

impl Sessions for Known {
    fn pinned(&self, session: &str, _now: Timestamp) -> Option<String> {
        self.sessions.get(session).cloned()
    }

    fn token_key(&self) -> Option<Vec<u8>> {
        self.token_key.clone()
    }
}

impl Failures for Known {
    fn failing(&self, endpoint: usize, _now: Timestamp) -> Option<Failing> {
        self.failing.get(endpoint).copied().flatten()
    }
}

impl ColdPicks for Known {
    fn last(&self, endpoint: usize) -> Option<Timestamp> {
        self.cold_picks.get(endpoint).copied().flatten()
    }
}
