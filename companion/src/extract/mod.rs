//! From samples to attributes: what each engine calls its metrics, and how series become one value.

mod combine;
mod custom;
#[cfg(feature = "schema")]
pub(crate) mod describe;
mod detect;
mod engine;
mod engines;
mod families;
mod frozen;
mod hit_rate;
mod memory;
mod models;
mod rate;
mod table;

use std::{borrow::Cow, collections::BTreeMap};

use headroom_datalayer::Sample;

pub(crate) use combine::{Cell, combine, combine_by};
pub(crate) use custom::Custom;
pub(crate) use engine::{EngineReading, extract_engine};
pub(crate) use engines::{ENGINES, engine};
pub(crate) use families::Families;
use hit_rate::HitRate;
pub(crate) use memory::EngineMemory;
pub(crate) use models::extract_models;
pub(crate) use table::{EngineTable, Range};

/// More names than one server serves; bounds what a broken scrape can put into the feed.
const MAX_NAMES: usize = 64;

/// Attributes of one endpoint, by name.
pub(crate) type Facts = BTreeMap<Cow<'static, str>, Sample>;

#[cfg(test)]
mod tests;
