//! What this proxy knows itself, beside what the companion measured: the ports for whoever keeps it (one
//! worker, all workers of a proxy, several gateways). Endpoints are indices into the snapshot.

use std::fmt;

use headroom_datalayer::{Span, Timestamp};

mod known;

pub use known::Known;

/// The requests this proxy has in flight.
pub trait InflightLoad {
    /// Requests that were sent to the endpoint and have not ended.
    fn requests(&self, endpoint: usize) -> u32;

    /// Those of them that were sent at `since` or later: what a value measured at `since` can't
    /// contain.
    fn requests_since(&self, endpoint: usize, since: Timestamp) -> u32;

    /// Prompt tokens of the requests in flight that the endpoint has to compute; `None` where tokens are
    /// not counted.
    fn tokens(&self, _endpoint: usize) -> Option<u64> {
        None
    }
}

/// How much of the request's prompt an endpoint has in its prefix cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixMatch {
    /// Blocks from the start of the prompt that are cached, without a gap.
    pub matched_blocks: u32,
    /// Blocks of the prompt.
    pub total_blocks: u32,
    /// Tokens in a block.
    pub block_tokens: u32,
}

impl PrefixMatch {
    /// Cached share of the prompt, 0 to 1; 0 for a prompt without blocks.
    pub fn ratio(&self) -> f64 {
        if self.total_blocks == 0 {
            0.0
        } else {
            (f64::from(self.matched_blocks) / f64::from(self.total_blocks)).min(1.0)
        }
    }

    /// Tokens that are cached.
    pub fn tokens(&self) -> u64 {
        u64::from(self.matched_blocks) * u64::from(self.block_tokens)
    }
}

/// What the prefix caches hold of the request at hand.
pub trait PrefixMatches {
    /// `None` where nothing is known of the endpoint's cache.
    fn matched(&self, endpoint: usize) -> Option<PrefixMatch>;
}

/// Which endpoint a session is pinned to.
pub trait Sessions {
    /// The address that the session with this id is pinned to.
    fn pinned(&self, session: &str, now: Timestamp) -> Option<String>;

    /// The key for session tokens that this proxy made for itself; `None` where it has none.
    fn token_key(&self) -> Option<Vec<u8>>;
}

/// An endpoint that this proxy has taken out because its requests failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Failures in a row.
    pub failures: u32,
    /// Since the last of them.
    pub ago: Span,
}

/// Failures that the proxy saw.
pub trait Failures {
    /// The failures in a row that the endpoint's last requests ended in; `None` after a success.
    fn failing(&self, endpoint: usize, now: Timestamp) -> Option<Failing>;
}

/// Where requests without any cached prefix went.
pub trait ColdPicks {
    /// When the endpoint was last chosen for one; `None` if never.
    fn last(&self, endpoint: usize) -> Option<Timestamp>;
}

/// Everything this proxy knows itself.
#[derive(Clone, Copy)]
pub struct Local<'a> {
    /// Requests in flight.
    pub load: &'a dyn InflightLoad,
    /// Prefix caches.
    pub prefix: &'a dyn PrefixMatches,
    /// Sessions.
    pub sessions: &'a dyn Sessions,
    /// Failed requests.
    pub failures: &'a dyn Failures,
    /// Requests without a cached prefix.
    pub cold_picks: &'a dyn ColdPicks,
}

impl fmt::Debug for Local<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

/// Nothing is in flight, cached, pinned or failing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Local<'static> {
    /// Nothing is known.
    pub const NOTHING: Self = Self {
        load: &Nothing,
        prefix: &Nothing,
        sessions: &Nothing,
        failures: &Nothing,
        cold_picks: &Nothing,
    };
}

impl InflightLoad for Nothing {
    fn requests(&self, _endpoint: usize) -> u32 {
        0
    }

    fn requests_since(&self, _endpoint: usize, _since: Timestamp) -> u32 {
        0
    }
}

impl PrefixMatches for Nothing {
    fn matched(&self, _endpoint: usize) -> Option<PrefixMatch> {
        None
    }
}

impl Sessions for Nothing {
    fn pinned(&self, _session: &str, _now: Timestamp) -> Option<String> {
        None
    }

    fn token_key(&self) -> Option<Vec<u8>> {
        None
    }
}

impl Failures for Nothing {
    fn failing(&self, _endpoint: usize, _now: Timestamp) -> Option<Failing> {
        None
    }
}

impl ColdPicks for Nothing {
    fn last(&self, _endpoint: usize) -> Option<Timestamp> {
        None
    }
}
