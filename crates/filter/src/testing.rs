//! What the tests of this crate share: fakes of the ports, and small pools.

use std::{cell::RefCell, collections::BTreeMap};

use headroom_datalayer::{Address, Endpoint, Snapshot, Timestamp};

use crate::ports::{CasMismatch, FeedStream, SharedData, Stats, Stored};

pub(crate) fn address(n: usize) -> Address {
    format!("10.0.0.{n}:8000").parse().expect("valid")
}

pub(crate) fn endpoint(n: usize) -> Endpoint {
    Endpoint { address: address(n), name: format!("pod-{n}"), labels: BTreeMap::new() }
}

pub(crate) fn snapshot(pool: &str, endpoints: usize) -> Snapshot {
    let endpoints = (1..=endpoints).map(endpoint).collect();
    Snapshot::new(pool.into(), 1, Timestamp::default(), endpoints, vec![], vec![])
}

/// Shared data with Envoy's rules: one counter for all keys, conditional writes of absent keys succeed.
#[derive(Debug, Default)]
pub(crate) struct FakeShared {
    values: RefCell<BTreeMap<String, Stored>>,
    writes: RefCell<u32>,
}

impl SharedData for FakeShared {
    fn get(&self, key: &str) -> Option<Stored> {
        self.values.borrow().get(key).cloned()
    }

    fn set(&self, key: &str, bytes: &[u8], cas: Option<u32>) -> Result<(), CasMismatch> {
        let mut values = self.values.borrow_mut();
        if let (Some(stored), Some(cas)) = (values.get(key), cas)
            && stored.cas != cas
        {
            return Err(CasMismatch);
        }
        *self.writes.borrow_mut() += 1;
        values.insert(key.to_owned(), Stored { bytes: bytes.to_vec(), cas: *self.writes.borrow() });
        Ok(())
    }
}

/// Counters by name; gauges too.
#[derive(Debug, Default)]
pub(crate) struct FakeStats(pub(crate) RefCell<BTreeMap<String, i64>>);

impl FakeStats {
    pub(crate) fn get(&self, name: &str) -> i64 {
        self.0.borrow().get(name).copied().unwrap_or_default()
    }
}

impl Stats for FakeStats {
    fn count(&self, name: &str, by: u32) {
        *self.0.borrow_mut().entry(name.to_owned()).or_default() += i64::from(by);
    }

    fn set(&self, name: &str, to: u64) {
        self.0.borrow_mut().insert(name.to_owned(), i64::try_from(to).expect("small"));
    }
}

/// Hands out tokens and remembers what was done with them.
#[derive(Debug, Default)]
pub(crate) struct FakeStream {
    pub(crate) refuse: RefCell<bool>,
    pub(crate) opened: RefCell<u32>,
    pub(crate) sent: RefCell<Vec<(u32, Vec<u8>)>>,
    pub(crate) cancelled: RefCell<Vec<u32>>,
}

impl FeedStream for FakeStream {
    fn open(&self) -> Option<u32> {
        if *self.refuse.borrow() {
            return None;
        }
        *self.opened.borrow_mut() += 1;
        Some(*self.opened.borrow())
    }

    fn send(&self, token: u32, message: &[u8]) -> bool {
        self.sent.borrow_mut().push((token, message.to_vec()));
        true
    }

    fn cancel(&self, token: u32) {
        self.cancelled.borrow_mut().push(token);
    }
}
