//! What holds for every decision, whatever the config: over all registered plugins, in random pools.

#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod bad_data;
mod case;
mod hard_filters;
mod order;
mod schema;
mod scores;
