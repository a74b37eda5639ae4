//! The load that this proxy itself has put on the endpoints.

use headroom_datalayer::Timestamp;

/// What the proxy knows of its own requests, by the endpoint's index in the snapshot. The port for
/// whoever counts them: one worker, all workers of a proxy, several gateways.
pub trait InflightLoad {
    /// Requests that were sent to the endpoint and have not ended.
    fn requests(&self, endpoint: usize) -> u32;

    /// Those of them that were sent at `since` or later: what a value measured at `since` can't
    /// contain.
    fn requests_since(&self, endpoint: usize, since: Timestamp) -> u32;
}

/// No requests in flight anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLoad;

impl InflightLoad for NoLoad {
    fn requests(&self, _endpoint: usize) -> u32 {
        0
    }

    fn requests_since(&self, _endpoint: usize, _since: Timestamp) -> u32 {
        0
    }
}
