//! A pool at run time: its compiled profile, its current snapshot, the load put on it.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use headroom_datalayer::{Catalog, Samples, Snapshot, Timestamp};
use headroom_wire::shared::{PoolVersion, Shared};

use crate::config::{Config, PoolSpec};
use crate::inflight::{Inflight, LoadView};
use crate::keys::PoolKeys;
use crate::ports::SharedData;

/// The pools of one configuration.
#[derive(Debug)]
pub struct Pools {
    pools: Vec<Rc<Pool>>,
    clusters: BTreeMap<String, usize>,
}

impl Pools {
    /// From a config; requests are counted in `inflight`.
    pub fn new(config: Config, inflight: &Inflight) -> Self {
        let cluster = config.feed.cluster;
        let pools = config
            .pools
            .into_iter()
            .map(|spec| Rc::new(Pool::new(spec, &cluster, inflight.clone())))
            .collect();
        Self { pools, clusters: config.clusters }
    }

    /// The pool that schedules requests to an Envoy cluster.
    pub fn of_cluster(&self, cluster: &str) -> Option<&Rc<Pool>> {
        self.pools.get(*self.clusters.get(cluster)?)
    }
}

/// A snapshot and the load on its endpoints.
#[derive(Debug)]
pub struct Current {
    /// What the feed told.
    pub snapshot: Snapshot,
    /// What this worker has sent.
    pub load: LoadView,
}

/// One pool.
#[derive(Debug)]
pub struct Pool {
    /// How it is configured.
    pub spec: PoolSpec,
    /// Where requests are counted.
    pub inflight: Inflight,
    /// Where its state is in shared data.
    pub keys: PoolKeys,
    held: RefCell<Held>,
}

/// What was last read from shared data.
#[derive(Debug, Default)]
struct Held {
    version: Option<PoolVersion>,
    catalog: Option<Catalog>,
    current: Option<Rc<Current>>,
}

impl Pool {
    fn new(spec: PoolSpec, cluster: &str, inflight: Inflight) -> Self {
        let keys = PoolKeys::new(cluster, &spec.name);
        Self { spec, inflight, keys, held: RefCell::default() }
    }

    /// The latest state, read again only if it has changed; `None` before there is any.
    pub fn current(&self, shared: &dyn SharedData) -> Option<Rc<Current>> {
        // Nothing is called back while the state is held, so it is never held twice.
        let mut held = self.held.try_borrow_mut().ok()?;
        let latest =
            shared.get(&self.keys.version).and_then(|stored| PoolVersion::decode(&stored.bytes).ok());
        if let Some(latest) = latest
            && held.version != Some(latest)
        {
            self.read(&mut held, latest, shared);
        }
        held.current.clone()
    }

    /// Reads what is new. The feed writes catalog, samples and version one after the other; where they
    /// don't fit together it is between two of these, and what is held stays until the next request.
    fn read(&self, held: &mut Held, latest: PoolVersion, shared: &dyn SharedData) {
        if held.catalog.as_ref().is_none_or(|catalog| catalog.version != latest.catalog) {
            let Some(catalog) = read::<Catalog>(shared, &self.keys.catalog) else { return };
            held.catalog = Some(catalog);
        }
        let (Some(catalog), Some(samples)) = (&held.catalog, read::<Samples>(shared, &self.keys.samples))
        else {
            return;
        };
        let written_at = Timestamp::from_micros(latest.written_at_us);
        let Some(snapshot) = catalog.snapshot(&self.spec.name, samples, latest.samples, written_at) else {
            return;
        };
        let load = self.inflight.view(&snapshot);
        held.current = Some(Rc::new(Current { snapshot, load }));
        held.version = Some(latest);
        self.inflight.sweep();
    }
}

fn read<T: Shared>(shared: &dyn SharedData, key: &str) -> Option<T> {
    T::decode(&shared.get(key)?.bytes).ok()
}

#[cfg(test)]
mod tests {
    use headroom_datalayer::{PoolState, Update};

    use super::*;
    use crate::testing::{FakeShared, endpoint};

    fn pool() -> Pool {
        let json = br#"{"feed": {"cluster": "c"}, "pools": [{"name": "p"}]}"#;
        let config = Config::parse(json).expect("valid");
        let mut pools = Pools::new(config, &Inflight::default()).pools;
        Rc::try_unwrap(pools.remove(0)).expect("one owner")
    }

    fn names(current: &Option<Rc<Current>>) -> usize {
        current.as_ref().map_or(0, |current| current.snapshot.endpoints().len())
    }

    #[test]
    fn a_state_is_decoded_when_its_version_changes_and_never_half_written() {
        let (pool, shared) = (pool(), FakeShared::default());
        assert!(pool.current(&shared).is_none());
        let mut state = PoolState::default();
        let write = |state: &PoolState, parts: &[&str], number: u64| {
            for part in parts {
                let (key, bytes) = match *part {
                    "catalog" => (&pool.keys.catalog, state.catalog().encode()),
                    "samples" => (&pool.keys.samples, state.samples().encode()),
                    _ => {
                        let catalog = state.catalog_version();
                        (
                            &pool.keys.version,
                            PoolVersion { catalog, samples: number, written_at_us: 5 }.encode(),
                        )
                    }
                };
                shared.set(key, &bytes, None).expect("unconditional");
            }
        };
        state.apply(Update { upserted: vec![endpoint(1)], ..Update::default() });
        write(&state, &["catalog", "samples", "version"], 1);
        let first = pool.current(&shared);
        assert_eq!(names(&first), 1);
        let again = pool.current(&shared);
        assert!(
            Rc::ptr_eq(first.as_ref().expect("read"), again.as_ref().expect("held")),
            "not decoded again"
        );

        state.apply(Update { upserted: vec![endpoint(2)], ..Update::default() });
        write(&state, &["catalog"], 2);
        assert_eq!(names(&pool.current(&shared)), 1, "the version is the old one");
        write(&state, &["version"], 2);
        assert_eq!(names(&pool.current(&shared)), 1, "samples of the old catalog");
        write(&state, &["samples"], 2);
        assert_eq!(names(&pool.current(&shared)), 2);
        shared.set(&pool.keys.version, b"noise", None).expect("unconditional");
        assert_eq!(names(&pool.current(&shared)), 2, "noise costs nothing that is known");
    }
}
