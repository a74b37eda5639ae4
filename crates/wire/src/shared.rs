//! MessagePack forms of what the feed leaves in shared data for the workers.
//!
//! The encoding is positional: a change of any of these types is a new [`SCHEMA`], which stands in
//! every key, because shared data outlives a change of the module.

use headroom_datalayer::{Address, Catalog, Samples, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Version of the layout of everything in shared data.
pub const SCHEMA: u32 = 1;

/// What stands behind a pool's version key; a worker reads it for every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolVersion {
    /// [`Catalog::version`] of the catalog blob.
    pub catalog: u64,
    /// Grows with every write of the samples blob.
    pub samples: u64,
    /// When the feed last wrote, microseconds since the epoch on this host's clock.
    pub written_at_us: u64,
}

/// Who feeds shared data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The holder's id, random per root context; zero when the lease is free.
    pub holder: u64,
    /// When it falls free unless renewed, microseconds since the epoch.
    pub expires_at_us: u64,
}

/// What one worker has in flight; each worker's VM owns a slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerLoad {
    /// The VM that owns the slot, random.
    pub holder: u64,
    /// When the VM last wrote, microseconds since the epoch. A slot whose owner is silent is free.
    pub heartbeat_us: u64,
    /// Endpoints with requests in flight.
    pub endpoints: Vec<EndpointLoad>,
}

/// One worker's requests to one endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointLoad {
    /// The pool.
    pub pool: String,
    /// The endpoint.
    pub address: Address,
    /// When each request was sent, oldest first.
    pub sent_at: Vec<Timestamp>,
}

/// What is remembered of endpoints of one pool: those whose requests fail, or those that got a request
/// without any cached prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// One an endpoint.
    pub marks: Vec<Mark>,
}

/// What is remembered of one endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The endpoint.
    pub address: Address,
    /// How often it happened in a row.
    pub count: u32,
    /// When it last happened.
    pub at: Timestamp,
}

/// Some of the sessions of one pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBucket {
    /// The pinned sessions whose id falls into this bucket.
    pub pins: Vec<SessionPin>,
}

/// A session and where it goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPin {
    /// Hash of the client's session id.
    pub session: u64,
    /// The endpoint.
    pub address: Address,
    /// When the pin is forgotten.
    pub expires_at: Timestamp,
}

/// The bytes are not what this version of the module wrote.
#[derive(Debug, thiserror::Error)]
#[error("shared data of {what} cannot be read: {source}")]
pub struct DecodeError {
    what: &'static str,
    #[source]
    source: rmp_serde::decode::Error,
}

/// Something with a place in shared data.
pub trait Shared: Serialize + DeserializeOwned {
    /// What it is, for messages.
    const WHAT: &'static str;

    /// As MessagePack. Writing plain data to memory cannot fail; should it, the result is empty,
    /// which no reader accepts.
    fn encode(&self) -> Vec<u8> {
        rmp_serde::to_vec(self).unwrap_or_default()
    }

    /// From MessagePack.
    ///
    /// # Errors
    /// When the bytes are of another layout, or were cut.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        rmp_serde::from_slice(bytes).map_err(|source| DecodeError { what: Self::WHAT, source })
    }
}

impl Shared for PoolVersion {
    const WHAT: &'static str = "a pool's version";
}

impl Shared for Lease {
    const WHAT: &'static str = "the feed's lease";
}

impl Shared for WorkerLoad {
    const WHAT: &'static str = "a worker's load";
}

impl Shared for Marks {
    const WHAT: &'static str = "marks of endpoints";
}

impl Shared for SessionBucket {
    const WHAT: &'static str = "pinned sessions";
}

impl Shared for Catalog {
    const WHAT: &'static str = "a pool's catalog";
}

impl Shared for Samples {
    const WHAT: &'static str = "a pool's samples";
}

#[cfg(test)]
mod tests {
    use headroom_datalayer::{Endpoint, Sample, Value};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_catalog_reads_back_and_noise_is_an_error() {
        let catalog = Catalog {
            version: 9,
            endpoints: vec![Endpoint {
                address: "[::1]:80".parse().expect("valid"),
                name: "n".into(),
                labels: [("k".to_owned(), "v".to_owned())].into(),
            }],
        };
        assert_eq!(Catalog::decode(&catalog.encode()).expect("reads back"), catalog);
        assert!(Catalog::decode(b"").is_err());
        assert!(Lease::decode(&catalog.encode()).is_err());
    }

    proptest! {
        #[test]
        fn samples_read_back(numbers in proptest::collection::vec(proptest::option::of(any::<f64>()), 0..20)) {
            let row = numbers.iter().map(|n| n.and_then(Value::number).map(|value| Sample {
                value, measured_at: Timestamp::from_micros(3)
            })).collect();
            let samples = Samples { catalog_version: 1, columns: vec!["a".into(); numbers.len()], rows: vec![row] };
            prop_assert_eq!(Samples::decode(&samples.encode()).expect("reads back"), samples);
        }

        #[test]
        fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _result = Samples::decode(&bytes);
            let _result = PoolVersion::decode(&bytes);
        }
    }
}
