//! Pools, requests and configs made up from a seed, for two questions: is a decision the same natively and
//! in wasm, and what does it cost?
//!
//! Everything here is a function of its arguments, bit for bit, on every target.

pub mod config;
pub mod cost;
pub mod dice;
#[cfg(not(target_family = "wasm"))]
pub mod fuel;
pub mod known;
pub mod line;
pub mod parameters;
pub mod pool;
pub mod request;
