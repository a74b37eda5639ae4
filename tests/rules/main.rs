//! The rules of this repository that a machine can check.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bench;
mod dependencies;
mod determinism;
mod field_reports;
mod growth;
mod sources;
mod yaml;
