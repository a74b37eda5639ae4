//! An open-loop load: requests are sent when they are due, whether or not earlier ones have ended.

mod arrivals;
mod report;
mod run;
mod workload;

pub use report::Report;
pub use run::{Outcome, run};
pub use workload::{Planned, Workload};
