//! The Prometheus text format 0.0.4 and OpenMetrics 1.0, read in one pass.
//!
//! [`parse`] never fails as a whole: a broken line costs itself, is reported with its number and the
//! reason, and every other line is read. Names and label values are borrowed from the text; only a
//! label value with an escape in it is copied.
//!
//! Both formats are read by the same grammar, which accepts what either allows, and the names in quotes
//! that Prometheus 3 added: `{"http.requests", "k8s.pod"="a"} 1`. They differ in the unit of timestamps:
//! milliseconds, or seconds in OpenMetrics, which is a text with a line `# EOF`. Lines after it are read,
//! and it is reported.
//!
//! Samples are handed on as they stand: a series that is there twice is there twice, and the buckets of
//! a histogram are samples like any other. Of exemplars only the form is checked; `# HELP` and `# UNIT`
//! are skipped.

mod braces;
mod cursor;
mod error;
mod family;
mod line;
mod number;
mod parse;
mod sample;

pub use error::{LineError, Reason};
pub use family::Kind;
pub use parse::{Limits, Parsed, parse, parse_within};
pub use sample::{Label, Sample};

#[cfg(test)]
mod tests;
