//! Scraping: one loop for each target, and what is known of each.

mod backoff;
mod body;
mod clients;
mod error;
mod fetch;
mod fleet;
mod ingest;
mod plan;
mod status;
mod worker;

pub(crate) use fetch::Fetcher;
pub(crate) use fleet::Fleet;
pub(crate) use status::{Health, State, TargetId, Targets};
use worker::Worker;
#[cfg(test)]
pub(crate) use {fleet::plans, plan::Plan};

#[cfg(test)]
mod access_tests;
#[cfg(test)]
pub(crate) mod raw_target;
#[cfg(test)]
mod tests;
