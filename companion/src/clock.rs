//! The publisher's wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headroom_datalayer::Timestamp;

/// Now, on this host's clock.
pub(crate) fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_micros(u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX))
}
