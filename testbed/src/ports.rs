//! Ports for servers that must come back on the same one after a restart.

use std::{
    net::TcpListener,
    sync::atomic::{AtomicU16, Ordering},
};

use anyhow::bail;

/// Below the range from which Linux takes ports for port 0 and for outgoing connections: a port stays
/// free while its server is down, and nobody who tries to connect meets himself there.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port of 127.0.0.1 that nobody listens on.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    let count = u32::from(RANGE.end - RANGE.start);
    // Programs that run at the same time begin at different places.
    let begin = std::process::id().wrapping_mul(97);
    for _ in 0..count {
        let step = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = RANGE.start + u16::try_from(begin.wrapping_add(step) % count)?;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port of {RANGE:?} is free")
}
