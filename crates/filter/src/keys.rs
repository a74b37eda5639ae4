//! Names in shared data.
//!
//! All plugins of one VM id share the same keys, and keys outlive a change of the module: every name
//! starts with ours and the version of the layout. The cluster that feeds a pool is part of its name,
//! so that two configs may feed pools of one name from different companions.

use headroom_wire::shared::SCHEMA;

/// The keys of one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolKeys {
    /// Small; read for every request.
    pub version: String,
    /// Endpoints.
    pub catalog: String,
    /// Values.
    pub samples: String,
    /// Endpoints whose requests fail.
    pub failures: String,
    /// Endpoints that got requests without any cached prefix.
    pub cold_picks: String,
    /// What the buckets of pinned sessions start with.
    sessions: String,
}

impl PoolKeys {
    /// The keys of `pool` as `cluster` feeds it.
    pub fn new(cluster: &str, pool: &str) -> Self {
        let key = |part: &str| format!("headroom/{SCHEMA}/pool/{cluster}/{pool}/{part}");
        Self {
            version: key("version"),
            catalog: key("catalog"),
            samples: key("samples"),
            failures: key("failures"),
            cold_picks: key("cold-picks"),
            sessions: key("sessions"),
        }
    }

    /// A bucket of pinned sessions.
    pub fn session_bucket(&self, bucket: u64) -> String {
        format!("{}/{bucket}", self.sessions)
    }
}

/// The key that signs session tokens where the config gives none.
pub fn token_key() -> String {
    format!("headroom/{SCHEMA}/token-key")
}

/// The lease of the feed that subscribes to `pools` at `cluster`. Configs with the same feed share it.
pub fn lease(cluster: &str, pools: &[String]) -> String {
    format!("headroom/{SCHEMA}/lease/{cluster}/{}", pools.join(","))
}

/// The slot in which a worker tells what it has in flight. Slots are used from 0 on without gaps.
pub fn worker(slot: usize) -> String {
    format!("headroom/{SCHEMA}/worker/{slot}")
}
