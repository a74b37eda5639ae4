//! From the stream's messages to what the workers read in shared data.

use std::collections::BTreeMap;

use headroom_datalayer::{PoolState, Timestamp};
use headroom_wire::convert::{self, Decoded};
use headroom_wire::feed::{Delta, Snapshot};
use headroom_wire::shared::{PoolVersion, Shared};

use super::FeedEnv;
use crate::config::FeedSpec;
use crate::keys::PoolKeys;
use crate::stats;

/// A message is missing: what follows can't be applied.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gap;

/// What is known of one pool.
#[derive(Debug)]
struct Pool {
    keys: PoolKeys,
    state: Option<PoolState>,
    epoch: u64,
    sequence: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Writer {
    pools: BTreeMap<String, Pool>,
}

impl Writer {
    pub(super) fn new(spec: &FeedSpec) -> Self {
        let pool = |name: &String| Pool {
            keys: PoolKeys::new(&spec.cluster, name),
            state: None,
            epoch: 0,
            sequence: 0,
        };
        Self { pools: spec.pools.iter().map(|name| (name.clone(), pool(name))).collect() }
    }

    /// Takes a pool's whole state; returns how many parts of it were not valid.
    pub(super) fn on_snapshot(
        &mut self,
        mut snapshot: Snapshot,
        to_local: &dyn Fn(Timestamp) -> Timestamp,
        env: &FeedEnv<'_>,
    ) -> Result<u32, Gap> {
        // A pool that was not asked for is none of ours.
        let name = std::mem::take(&mut snapshot.pool);
        let Some(pool) = self.pools.get_mut(&name) else { return Ok(0) };
        (pool.epoch, pool.sequence) = (snapshot.epoch, snapshot.sequence);
        let Decoded { update, dropped } = convert::from_snapshot(snapshot, to_local);
        // Begun anew, at a version that nobody has used: another holder may have written since, and two
        // holders must never give two catalogs the same version.
        let mut state = PoolState::starting_at(env.now.as_micros());
        state.apply(update);
        pool.state = Some(state);
        pool.write(&name, env);
        Ok(u32::try_from(dropped).unwrap_or(u32::MAX))
    }

    /// Takes a change; returns how many parts of it were not valid.
    pub(super) fn on_delta(
        &mut self,
        mut delta: Delta,
        to_local: &dyn Fn(Timestamp) -> Timestamp,
        env: &FeedEnv<'_>,
    ) -> Result<u32, Gap> {
        let name = std::mem::take(&mut delta.pool);
        let Some(pool) = self.pools.get_mut(&name) else { return Ok(0) };
        let Some(state) = &mut pool.state else { return Err(Gap) };
        if delta.epoch != pool.epoch || delta.sequence != pool.sequence.wrapping_add(1) {
            return Err(Gap);
        }
        pool.sequence = delta.sequence;
        let Decoded { update, dropped } = convert::from_delta(delta, to_local);
        state.apply(update);
        pool.write(&name, env);
        Ok(u32::try_from(dropped).unwrap_or(u32::MAX))
    }
}

impl Pool {
    /// Writes catalog (when changed), samples and, last, the version that makes readers look.
    fn write(&self, name: &str, env: &FeedEnv<'_>) {
        let Some(state) = &self.state else { return };
        let put = |key: &str, bytes: &[u8]| {
            // Unconditional writes do not fail.
            let _written = env.shared.set(key, bytes, None);
        };
        // What stands there, not what was written from here: another holder may have written since, or
        // another config of this proxy, which feeds the same pool through a lease of its own.
        let stored =
            env.shared.get(&self.keys.version).and_then(|stored| PoolVersion::decode(&stored.bytes).ok());
        let now = env.now.as_micros();
        let version = PoolVersion {
            catalog: state.catalog_version(),
            samples: stored.map_or(now, |stored| now.max(stored.samples.saturating_add(1))),
            written_at_us: now,
        };
        if stored.is_none_or(|stored| stored.catalog != version.catalog) {
            let catalog = state.catalog();
            put(&self.keys.catalog, &catalog.encode());
            let count = u64::try_from(catalog.endpoints.len()).unwrap_or(u64::MAX);
            env.stats.set(&stats::POOL_ENDPOINTS.with(&[name]), count);
        }
        put(&self.keys.samples, &state.samples().encode());
        put(&self.keys.version, &version.encode());
    }
}
