//! TLS: what we show, whom we trust, and how files that change are followed.
//!
//! The cryptography is ring's everywhere, handed over explicitly: nothing depends on a process-wide default.

mod client;
mod pem;
mod server;
mod verify;
mod watched;
mod words;

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

pub(crate) use client::{client_config, plain_config};
pub(crate) use server::{ServerFiles, watch_server};
pub(crate) use watched::{Current, Watched};
pub(crate) use words::{causes, handshake_fault};

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

#[cfg(test)]
pub(crate) mod testing;
