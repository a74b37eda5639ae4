//! How a pool's state changes: whole at first, then by what is different.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Address, Endpoint, Sample, Snapshot, Timestamp};

/// The endpoints of a pool: changes rarely.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Grows whenever an endpoint comes, goes or changes.
    pub version: u64,
    /// The endpoints, ordered by address.
    pub endpoints: Vec<Endpoint>,
}

/// One endpoint's samples, in the order of [`Samples::columns`].
pub type Row = Vec<Option<Sample>>;

/// The measured values of a pool: changes often.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The [`Catalog::version`] whose endpoints the rows belong to.
    pub catalog_version: u64,
    /// Attribute names.
    pub columns: Vec<String>,
    /// One row an endpoint, in the catalog's order.
    pub rows: Vec<Row>,
}

/// What is different since the last update. What is not mentioned stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// Endpoints that are new or whose name or labels changed; their samples stay.
    pub upserted: Vec<Endpoint>,
    /// Endpoints that are gone, with everything known of them.
    pub removed: Vec<Address>,
    /// New values: endpoint, attribute, sample. `None` drops a value that the source no longer has.
    pub samples: Vec<(Address, String, Option<Sample>)>,
}

/// A pool's state as its keeper holds it between updates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolState {
    catalog_version: u64,
    endpoints: BTreeMap<Address, (Endpoint, BTreeMap<String, Sample>)>,
}

impl PoolState {
    /// An empty state whose catalog versions start after `catalog_version`, so that two keepers
    /// with different starts never give two catalogs the same version.
    pub fn starting_at(catalog_version: u64) -> Self {
        Self { catalog_version, endpoints: BTreeMap::new() }
    }

    /// Applies an update; applying it twice is the same as applying it once. Samples of endpoints
    /// that are not in the pool are ignored: a late value must not bring back who has left.
    pub fn apply(&mut self, update: Update) {
        let mut changed = false;
        for address in &update.removed {
            changed |= self.endpoints.remove(address).is_some();
        }
        for endpoint in update.upserted {
            match self.endpoints.get_mut(&endpoint.address) {
                Some((known, _)) if *known == endpoint => {}
                Some((known, _)) => {
                    *known = endpoint;
                    changed = true;
                }
                None => {
                    self.endpoints.insert(endpoint.address.clone(), (endpoint, BTreeMap::new()));
                    changed = true;
                }
            }
        }
        for (address, key, sample) in update.samples {
            let Some((_, samples)) = self.endpoints.get_mut(&address) else { continue };
            match sample {
                Some(sample) => {
                    samples.insert(key, sample);
                }
                None => {
                    samples.remove(&key);
                }
            }
        }
        if changed {
            self.catalog_version = self.catalog_version.wrapping_add(1);
        }
    }

    /// The endpoint at `address`, if the pool has it.
    pub fn endpoint(&self, address: &Address) -> Option<&Endpoint> {
        self.endpoints.get(address).map(|(endpoint, _)| endpoint)
    }

    /// Changes whenever the set of endpoints or one of their names or labels does.
    pub fn catalog_version(&self) -> u64 {
        self.catalog_version
    }

    /// The endpoints, ordered by address.
    pub fn catalog(&self) -> Catalog {
        Catalog {
            version: self.catalog_version,
            endpoints: self.endpoints.values().map(|(endpoint, _)| endpoint.clone()).collect(),
        }
    }

    /// The values, in the order of [`PoolState::catalog`].
    pub fn samples(&self) -> Samples {
        let mut columns: Vec<String> = Vec::new();
        for (_, samples) in self.endpoints.values() {
            for key in samples.keys() {
                if let Err(at) = columns.binary_search(key) {
                    columns.insert(at, key.clone());
                }
            }
        }
        let rows = self
            .endpoints
            .values()
            .map(|(_, samples)| columns.iter().map(|key| samples.get(key).cloned()).collect())
            .collect();
        Samples { catalog_version: self.catalog_version, columns, rows }
    }

    /// Endpoints with their samples, ordered by address.
    pub fn iter(&self) -> impl Iterator<Item = (&Endpoint, &BTreeMap<String, Sample>)> {
        self.endpoints.values().map(|(endpoint, samples)| (endpoint, samples))
    }
}

impl Catalog {
    /// The snapshot that this catalog and `samples` make, or `None` when they belong to different
    /// catalogs: then one of the two is about to be replaced.
    pub fn snapshot(
        &self,
        pool: &str,
        samples: Samples,
        version: u64,
        updated_at: Timestamp,
    ) -> Option<Snapshot> {
        (samples.catalog_version == self.version).then(|| {
            Snapshot::new(
                pool.to_owned(),
                version,
                updated_at,
                self.endpoints.clone(),
                samples.columns,
                samples.rows,
            )
        })
    }
}

#[cfg(test)]
mod tests;
