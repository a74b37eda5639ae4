//! Pinned sessions that all workers share, in a bounded number of buckets.

use headroom_datalayer::{Address, Span, Timestamp};
use headroom_wire::shared::{SessionBucket, SessionPin, Shared};

use crate::keys::{self, PoolKeys};
use crate::ports::{CREATE_ONLY, SharedData};

/// Shared data has no removal, so the number of keys is fixed: 1024 buckets of 64 are 65536 sessions a
/// pool, at most 3 MB.
const BUCKETS: u64 = 1_024;
const MAX_PINS: usize = 64;
/// Other workers write the same bucket; after this many lost races a pin is given up.
const ATTEMPTS: usize = 5;

/// Where the session is pinned.
pub(crate) fn find(
    shared: &dyn SharedData,
    keys: &PoolKeys,
    session: &str,
    now: Timestamp,
) -> Option<Address> {
    let hash = hash(session);
    let stored = shared.get(&keys.session_bucket(hash % BUCKETS))?;
    let bucket = SessionBucket::decode(&stored.bytes).ok()?;
    let pin = bucket.pins.into_iter().find(|pin| pin.session == hash)?;
    (pin.expires_at >= now).then_some(pin.address)
}

/// Pins the session for `ttl` from now on. A pin that is nearly as fresh is not written again.
pub(crate) fn pin(
    shared: &dyn SharedData,
    keys: &PoolKeys,
    session: &str,
    address: &Address,
    ttl: Span,
    now: Timestamp,
) {
    let hash = hash(session);
    let key = keys.session_bucket(hash % BUCKETS);
    let expires_at = Timestamp::from_micros(now.as_micros().saturating_add(ttl.as_micros()));
    for _ in 0..ATTEMPTS {
        let (mut bucket, cas) = match shared.get(&key) {
            Some(stored) => (SessionBucket::decode(&stored.bytes).unwrap_or_default(), stored.cas),
            None => (SessionBucket::default(), CREATE_ONLY),
        };
        let nearly_as_fresh = |pin: &SessionPin| {
            let behind = expires_at.since(pin.expires_at).as_micros();
            pin.session == hash && pin.address == *address && behind < ttl.as_micros() / 10
        };
        if bucket.pins.iter().any(nearly_as_fresh) {
            return;
        }
        bucket.pins.retain(|pin| pin.session != hash && pin.expires_at >= now);
        if bucket.pins.len() >= MAX_PINS {
            bucket.pins.sort_by_key(|pin| pin.expires_at);
            bucket.pins.drain(..=bucket.pins.len() - MAX_PINS);
        }
        bucket.pins.push(SessionPin { session: hash, address: address.clone(), expires_at });
        if shared.set(&key, &bucket.encode(), Some(cas)).is_ok() {
            return;
        }
    }
}

/// The key that signs session tokens: the first worker's secret becomes everybody's.
pub(crate) fn token_key(shared: &dyn SharedData, secret: &[u8]) -> Vec<u8> {
    let key = keys::token_key();
    let stored = || shared.get(&key).map(|stored| stored.bytes).filter(|bytes| !bytes.is_empty());
    stored().unwrap_or_else(|| {
        let _another_was_first = shared.set(&key, secret, Some(CREATE_ONLY));
        stored().unwrap_or_else(|| secret.to_vec())
    })
}

/// 64-bit FNV-1a (RFC 9923). Who finds two ids with one hash shares an endpoint with himself.
fn hash(session: &str) -> u64 {
    session
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakeShared, address};

    const TTL: Span = Span::from_secs(60);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_session_is_found_until_its_last_request_is_too_long_ago() {
        let (shared, keys) = (FakeShared::default(), PoolKeys::new("c", "p"));
        let find = |second| find(&shared, &keys, "alice", at(second));
        assert_eq!(find(0), None);
        pin(&shared, &keys, "alice", &address(1), TTL, at(0));
        pin(&shared, &keys, "bob", &address(2), TTL, at(0));
        assert_eq!((find(60), find(61)), (Some(address(1)), None));
        pin(&shared, &keys, "alice", &address(1), TTL, at(30));
        assert_eq!(find(90), Some(address(1)));
        pin(&shared, &keys, "alice", &address(3), TTL, at(31));
        assert_eq!(find(91), Some(address(3)), "a session that moves is written at once");
        assert_eq!(super::find(&shared, &PoolKeys::new("c", "other"), "alice", at(1)), None);
    }

    #[test]
    fn a_full_bucket_forgets_the_session_that_was_quiet_longest() {
        let (shared, keys) = (FakeShared::default(), PoolKeys::new("c", "p"));
        let same_bucket: Vec<String> = (0..)
            .map(|n| format!("s{n}"))
            .filter(|session| hash(session) % BUCKETS == 7)
            .take(MAX_PINS + 3)
            .collect();
        for (second, session) in (0..).zip(&same_bucket) {
            pin(&shared, &keys, session, &address(1), Span::from_secs(10_000), at(second));
        }
        let found = same_bucket.iter().map(|session| find(&shared, &keys, session, at(100)).is_some());
        assert_eq!(found.collect::<Vec<_>>(), [vec![false; 3], vec![true; MAX_PINS]].concat());
    }

    #[test]
    fn all_workers_sign_with_the_first_ones_key() {
        let shared = FakeShared::default();
        assert_eq!(token_key(&shared, b"first"), b"first");
        assert_eq!(token_key(&shared, b"second"), b"first");
    }
}
