//! The state of one pool at one moment.

use crate::{Endpoint, Reading, Sample, Span, Timestamp, read};

/// Index of an attribute within one [`Snapshot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column(usize);

/// Everything known about a pool. Immutable: one decision sees one snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    pool: String,
    version: u64,
    updated_at: Timestamp,
    endpoints: Vec<Endpoint>,
    columns: Vec<String>,
    /// One row an endpoint, one entry a column; a short row has no values in the remaining columns.
    rows: Vec<Vec<Option<Sample>>>,
    /// See [`Snapshot::fingerprint`]; in the order of `endpoints`.
    fingerprints: Vec<u64>,
}

impl Snapshot {
    /// Puts a snapshot together. `rows` are in the order of `endpoints`, their entries in the order of `columns`.
    pub fn new(
        pool: String,
        version: u64,
        updated_at: Timestamp,
        endpoints: Vec<Endpoint>,
        columns: Vec<String>,
        rows: Vec<Vec<Option<Sample>>>,
    ) -> Self {
        let fingerprints = endpoints.iter().map(|endpoint| fingerprint(endpoint.address.as_str())).collect();
        Self { pool, version, updated_at, endpoints, columns, rows, fingerprints }
    }

    /// The pool's name.
    pub fn pool(&self) -> &str {
        &self.pool
    }

    /// Changes whenever anything in the snapshot does.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// When the last update arrived, on the reader's clock.
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The endpoints; decisions refer to them by index.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// A number that depends on the endpoint's address alone: what breaks ties, so that the order in
    /// which endpoints are listed never decides.
    pub fn fingerprint(&self, endpoint: usize) -> u64 {
        self.fingerprints.get(endpoint).copied().unwrap_or_default()
    }

    /// Where the attribute `key` is, if any endpoint ever had it.
    pub fn column(&self, key: &str) -> Option<Column> {
        self.columns.iter().position(|name| name == key).map(Column)
    }

    /// The names of all attributes that any endpoint has.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The endpoint's last sample in `column`, whatever its age.
    pub fn sample(&self, endpoint: usize, column: Column) -> Option<&Sample> {
        self.rows.get(endpoint)?.get(column.0)?.as_ref()
    }

    /// Reads the endpoint's attribute at `now`; `column` is `None` where no endpoint has the attribute.
    pub fn reading(
        &self,
        endpoint: usize,
        column: Option<Column>,
        now: Timestamp,
        max_age: Span,
    ) -> Reading<'_> {
        read(column.and_then(|column| self.sample(endpoint, column)), now, max_age)
    }
}

/// 64-bit FNV-1a (RFC 9923): stable between builds and targets, as a tie-break must be.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
