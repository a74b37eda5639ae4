//! What a proxy knows itself, made up.

use headroom_datalayer::{Snapshot, Span};
use headroom_scheduling::{Failing, Known, PrefixMatch};

use crate::dice::Dice;
use crate::pool::before;

/// Session ids that clients send.
pub const SESSIONS: &[&str] = &["s-1", "s-2", "s-3", "s-4"];

/// Something about each endpoint of the pool.
pub fn random(dice: &mut Dice, snapshot: &Snapshot) -> Known {
    let mut known = Known::default();
    let (busy, warm, ill) = (dice.one(&[0, 2, 12]), dice.one(&[0.0, 0.2, 0.8]), dice.one(&[0.0, 0.1, 0.9]));
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
        known.sessions.insert((*session).to_owned(), address.unwrap_or_else(|| "10.9.9.9:8000".to_owned()));
    }
    known.token_key = dice.chance(0.9).then(|| dice.bits().to_be_bytes().repeat(4));
    known
}

/// Makes every endpoint what the first one is.
pub fn make_equal(known: &mut Known) {
    fn repeat<T: Clone>(of: &mut [T]) {
        if let Some((first, others)) = of.split_first_mut() {
            others.fill(first.clone());
        }
    }
    repeat(&mut known.sent);
    repeat(&mut known.tokens);
    repeat(&mut known.prefix);
    repeat(&mut known.failing);
    repeat(&mut known.cold_picks);
    known.sessions.clear();
}
