//! What is known about the endpoints of a pool, and since when.
//!
//! An [`Endpoint`] is one addressable model-server replica. What is known of it beside its identity
//! are *attributes*: named facts with a [`Value`], a unit and the time they were measured
//! ([`Sample`]). A [`Snapshot`] is the state of one pool at one moment; a decision is made on
//! exactly one snapshot. [`PoolState`] is how a snapshot comes about: [`Update`]s applied in order.
//!
//! Two rules hold everywhere: a value that is missing is an [`Option`], never a default, and a value
//! that is too old is missing ([`read`]).
//!
//! This crate reads no clock and does no I/O.

mod attribute;
mod endpoint;
mod freshness;
mod sample;
mod snapshot;
mod time;
mod update;

pub use attribute::{
    ATTRIBUTES, AttributeInfo, AttributeRef, Combine, attribute_aliases, attribute_info, well_known,
};
pub use endpoint::{Address, Endpoint, InvalidAddress};
pub use freshness::{FUTURE_TOLERANCE, Reading, read};
pub use sample::{Sample, Value};
pub use snapshot::{Column, Snapshot};
pub use time::{InvalidSpan, Span, SpanText, Timestamp};
pub use update::{Catalog, PoolState, Row, Samples, Update};
