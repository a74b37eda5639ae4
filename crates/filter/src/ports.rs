//! What the filter needs from the proxy, one small port a concern.

/// A value in shared data, with the number that a conditional write names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The value; empty for a key that was created without one.
    pub bytes: Vec<u8>,
    /// Changes with every write of the key.
    pub cas: u32,
}

/// Somebody else has written the key since it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CasMismatch;

/// As the `cas` of a write: write only if the key does not exist. It is no key's number, and the proxy
/// does not compare when there is nothing to compare with.
pub const CREATE_ONLY: u32 = u32::MAX;

/// Key-value pairs that all workers of the proxy see.
pub trait SharedData {
    /// The value of `key`, if it was ever written.
    fn get(&self, key: &str) -> Option<Stored>;

    /// Writes `key`; with `cas` only if nobody has written it since. A conditional write of a key
    /// that does not exist succeeds.
    ///
    /// # Errors
    /// When `cas` is not the key's current one.
    fn set(&self, key: &str, bytes: &[u8], cas: Option<u32>) -> Result<(), CasMismatch>;
}

/// Counters and gauges of the proxy. Names carry their labels: see [`crate::stats`].
pub trait Stats {
    /// Adds to a counter.
    fn count(&self, name: &str, by: u32);

    /// Sets a gauge.
    fn set(&self, name: &str, to: u64);
}

/// A bidirectional gRPC stream to the companion.
pub trait FeedStream {
    /// Opens a stream; `None` when the proxy refuses, for instance because the cluster is unknown.
    fn open(&self) -> Option<u32>;

    /// Sends a message; whether the proxy took it.
    fn send(&self, token: u32, message: &[u8]) -> bool;

    /// Ends the stream and frees what the proxy holds for it; harmless for one that has ended.
    fn cancel(&self, token: u32);
}
