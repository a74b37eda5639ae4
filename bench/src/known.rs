//! What a proxy knows itself, made up.

use std::collections::BTreeMap;

use headroom_datalayer::{Snapshot, Span, Timestamp};
use headroom_scheduling::{
    ColdPicks, Failing, Failures, InflightLoad, Local, PrefixMatch, PrefixMatches, Sessions,
};

use crate::dice::Dice;
use crate::pool::before;

/// Session ids that clients send.
pub const SESSIONS: &[&str] = &["s-1", "s-2", "s-3", "s-4"];

/// By endpoint, in the order of the snapshot.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// When the requests in flight were sent.
    pub sent: Vec<Vec<Timestamp>>,
    /// Prompt tokens in flight.
    pub tokens: Vec<Option<u64>>,
    /// Cached prefixes.
    pub prefix: Vec<Option<PrefixMatch>>,
    /// Session id → address.
    pub sessions: BTreeMap<String, String>,
    /// Signs session tokens.
    pub token_key: Option<Vec<u8>>,
    /// Failures in a row, and since when.
    pub failing: Vec<Option<Failing>>,
    /// Last request without a cached prefix.
    pub cold_picks: Vec<Option<Timestamp>>,
}

impl Known {
    /// Something about each endpoint of the pool.
    pub fn random(dice: &mut Dice, snapshot: &Snapshot) -> Self {
        let mut known = Self::default();
        let (busy, warm, ill) =
            (dice.one(&[0, 2, 12]), dice.one(&[0.0, 0.2, 0.8]), dice.one(&[0.0, 0.1, 0.9]));
        let total_blocks = u32::try_from(dice.below(600)).unwrap_or_default();
        for _ in snapshot.endpoints() {
            let count = dice.below(busy + 1);
            known.sent.push((0..count).map(|_| before(dice.below(5_000_000))).collect());
            known.tokens.push(dice.chance(0.7).then(|| dice.below(6_000_000)));
            known.prefix.push(dice.chance(warm).then(|| PrefixMatch {
                matched_blocks: u32::try_from(dice.below(u64::from(total_blocks) + 3)).unwrap_or_default(),
                total_blocks,
                block_tokens: 16,
            }));
            known.failing.push(dice.chance(ill).then(|| Failing {
                failures: u32::try_from(1 + dice.below(9)).unwrap_or_default(),
                ago: Span::from_micros(dice.below(60_000_000)),
            }));
            known.cold_picks.push(dice.chance(0.5).then(|| before(dice.below(90_000_000))));
        }
        for session in SESSIONS {
            let there = snapshot.endpoints().get(dice.index(snapshot.endpoints().len()));
            let address = there.filter(|_| dice.chance(0.8)).map(|endpoint| endpoint.address.to_string());
            known
                .sessions
                .insert((*session).to_owned(), address.unwrap_or_else(|| "10.9.9.9:8000".to_owned()));
        }
        known.token_key = dice.chance(0.9).then(|| dice.bits().to_be_bytes().repeat(4));
        known
    }

    /// Makes every endpoint what the first one is.
    pub fn make_equal(&mut self) {
        fn repeat<T: Clone>(of: &mut [T]) {
            if let Some((first, others)) = of.split_first_mut() {
                others.fill(first.clone());
            }
        }
        repeat(&mut self.sent);
        repeat(&mut self.tokens);
        repeat(&mut self.prefix);
        repeat(&mut self.failing);
        repeat(&mut self.cold_picks);
        self.sessions.clear();
    }

    /// As the scheduler takes it.
    pub fn local(&self) -> Local<'_> {
        Local { load: self, prefix: self, sessions: self, failures: self, cold_picks: self }
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl InflightLoad for Known {
    fn requests(&self, endpoint: usize) -> u32 {
        self.sent.get(endpoint).map_or(0, |sent| count(sent.len()))
    }

    fn requests_since(&self, endpoint: usize, since: Timestamp) -> u32 {
        self.sent.get(endpoint).map_or(0, |sent| count(sent.iter().filter(|at| **at >= since).count()))
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
