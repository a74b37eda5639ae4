//! What a target is scraped for.

use headroom_datalayer::Address;

use crate::discovery::{Pace, Source};

/// How a target is scraped, until discovery says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// As often as any consumer wants.
    pub(crate) pace: Pace,
    /// The endpoints that the target tells something about.
    pub(crate) consumers: Vec<Consumer>,
}

/// An endpoint that gets values from a target.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Consumer {
    /// The pool's index in the config.
    pub(crate) pool: usize,
    /// The endpoint.
    pub(crate) address: Address,
    /// Which life of the address this is: nothing is known of a new one.
    pub(crate) life: u64,
    /// How its values are found in the scrape.
    pub(crate) source: Source,
}

impl Plan {
    /// The pools whose endpoints the target tells something about.
    pub(crate) fn pools(&self) -> Vec<usize> {
        let mut pools: Vec<usize> = self.consumers.iter().map(|consumer| consumer.pool).collect();
        pools.sort_unstable();
        pools.dedup();
        pools
    }

    /// Adds what another endpoint wants.
    pub(super) fn add(&mut self, pace: Pace, consumer: Consumer) {
        self.pace.interval = self.pace.interval.min(pace.interval);
        self.pace.timeout = self.pace.timeout.min(pace.timeout);
        self.consumers.push(consumer);
    }
}
