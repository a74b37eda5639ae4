//! The HTTP filter without Envoy: everything that `headroom.wasm` does, behind small ports.
//!
//! * [`config`]: the plugin's JSON, read and compiled into pools.
//! * [`feed`]: keeps the lease and the stream to the companion, and writes shared data.
//! * [`pool`]: a pool at run time: its compiled profile, its current snapshot, its load.
//! * [`exchange`]: one request and its response, from headers to completion.
//! * [`inflight`] and [`workers`]: the requests in flight, of this worker and of the others.
//! * [`ports`]: what the proxy must offer.
//!
//! Nothing here panics, blocks or reads a clock; the adapter passes the time and the ports in.

pub mod body;
pub mod config;
pub mod exchange;
pub mod feed;
pub mod headers;
pub mod inflight;
pub mod keys;
mod local;
pub mod pool;
pub mod ports;
pub mod registry;
pub mod reply;
pub mod stats;
pub mod workers;

#[cfg(test)]
mod testing;
