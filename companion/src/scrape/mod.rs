//! One loop for each target: fetch, read, hand on, wait.

mod backoff;
mod fetch;
mod ingest;
mod status;
mod worker;

pub(crate) use fetch::Fetcher;
pub(crate) use status::{Health, State, Targets};
pub(crate) use worker::Worker;

#[cfg(test)]
mod tests;
