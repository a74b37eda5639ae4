//! Marks on endpoints that all workers share: failures in a row, and picks for cold requests.

use headroom_datalayer::{Address, Span, Timestamp};
use headroom_wire::shared::{Mark, Marks, Shared};

use crate::ports::{CREATE_ONLY, SharedData};

/// What is older is forgotten; endpoints that have left the pool go with it.
const KEPT: Span = Span::from_secs(3_600);
/// Bounds what one key holds; the oldest go.
const MAX_MARKS: usize = 4_096;
/// Other workers write the same key; after this many lost races a mark is given up.
const ATTEMPTS: usize = 5;

/// Counts one more at the endpoint.
pub(crate) fn add(shared: &dyn SharedData, key: &str, address: &Address, now: Timestamp) {
    change(shared, key, |marks| {
        let count = match marks.iter().position(|mark| mark.address == *address) {
            Some(at) => marks.swap_remove(at).count.saturating_add(1),
            None => 1,
        };
        marks.push(Mark { address: address.clone(), count, at: now });
        marks.retain(|mark| now.since(mark.at) <= KEPT);
        if marks.len() > MAX_MARKS {
            marks.sort_by_key(|mark| mark.at);
            marks.drain(..marks.len() - MAX_MARKS);
        }
        true
    });
}

/// Forgets the endpoint's mark. Costs a read when it has none, which is the rule.
pub(crate) fn clear(shared: &dyn SharedData, key: &str, address: &Address) {
    change(shared, key, |marks| {
        let before = marks.len();
        marks.retain(|mark| mark.address != *address);
        marks.len() != before
    });
}

/// Applies `edit`, which says whether it changed anything, to what stands behind `key`.
fn change(shared: &dyn SharedData, key: &str, mut edit: impl FnMut(&mut Vec<Mark>) -> bool) {
    for _ in 0..ATTEMPTS {
        let (mut marks, cas) = match shared.get(key) {
            Some(stored) => (Marks::decode(&stored.bytes).unwrap_or_default(), stored.cas),
            None => (Marks::default(), CREATE_ONLY),
        };
        if !edit(&mut marks.marks) || shared.set(key, &marks.encode(), Some(cas)).is_ok() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakeShared, address};

    fn counts(shared: &FakeShared) -> Vec<(String, u32)> {
        let marks = shared.get("k").map(|stored| Marks::decode(&stored.bytes).expect("marks"));
        marks.unwrap_or_default().marks.into_iter().map(|m| (m.address.to_string(), m.count)).collect()
    }

    #[test]
    fn marks_count_up_until_they_are_cleared_or_forgotten() {
        let (shared, at) = (FakeShared::default(), Timestamp::from_millis);
        clear(&shared, "k", &address(1));
        assert!(shared.get("k").is_none(), "nothing to clear is nothing to write");
        add(&shared, "k", &address(1), at(1_000));
        add(&shared, "k", &address(1), at(2_000));
        add(&shared, "k", &address(2), at(2_000));
        assert_eq!(counts(&shared), [("10.0.0.1:8000".to_owned(), 2), ("10.0.0.2:8000".to_owned(), 1)]);
        clear(&shared, "k", &address(1));
        assert_eq!(counts(&shared), [("10.0.0.2:8000".to_owned(), 1)]);
        add(&shared, "k", &address(3), at(3_700_000));
        assert_eq!(counts(&shared), [("10.0.0.3:8000".to_owned(), 1)]);
    }

    #[test]
    fn noise_in_shared_data_is_replaced() {
        let shared = FakeShared::default();
        shared.set("k", b"noise", None).expect("unconditional");
        add(&shared, "k", &address(1), Timestamp::from_millis(1));
        assert_eq!(counts(&shared).len(), 1);
    }
}
