//! The Prometheus text format 0.0.4 and OpenMetrics 1.0, read in one pass.
//!
//! [`parse`] never fails as a whole: a broken line costs itself, is reported with its number and the
//! reason, and every other line is read. Names and label values are borrowed from the text; only a
//! label value with an escape in it is copied.
//!
//! Both formats are read by the same grammar, which accepts what either allows. They differ in the
//! unit of timestamps (milliseconds, or seconds in OpenMetrics); a text that ends in `# EOF` is
//! OpenMetrics.

mod cursor;
mod error;
mod family;
mod line;
mod parse;
mod sample;

pub use error::{LineError, Reason};
pub use family::Kind;
pub use parse::{Limits, Parsed, parse, parse_within};
pub use sample::{Label, Sample};

#[cfg(test)]
mod tests;
