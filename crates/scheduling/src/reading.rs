//! Reading an attribute the way every plugin does: with an age limit, in the config's unit, and with
//! a declared answer for a value that is missing.

use headroom_datalayer::{AttributeRef, Column, Reading, Snapshot, Span, SpanText, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{BuildContext, Context};

/// What a plugin does with an endpoint whose value is missing or stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnMissing {
    /// A filter excludes the endpoint, as if the value were over the limit; a scorer gives 0.
    Exclude,
    /// A filter lets the endpoint pass as if the value were good; a scorer gives 1.
    Pass,
    /// A filter excludes the endpoint; a scorer gives 0.
    Worst,
    /// A filter does not decide: the endpoint stays, but does not count as one that meets the limit,
    /// so it never keeps the fallback from working. A scorer gives the mean of the scores of the
    /// endpoints that have a value, 0 if none has.
    Neutral,
}

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmeasured {
    /// Never measured, or the source no longer has it.
    Missing,
    /// Measured too long ago.
    Stale {
        /// How long ago.
        age: Span,
    },
    /// Dated in the future: its age is unknown.
    FutureDated,
    /// The attribute is not a number.
    NotANumber,
}

/// A fresh number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// In the unit of the config.
    pub value: f64,
    /// When.
    pub measured_at: Timestamp,
    /// How long ago.
    pub age: Span,
}

/// An attribute as a plugin reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeSource {
    /// The spelling in the config.
    pub name: String,
    /// What it resolves to.
    pub attribute: AttributeRef,
    /// A value older than this is missing.
    pub max_age: Span,
}

impl AttributeSource {
    /// The attribute `name` with the plugin's own age limit, else the pool's, else the attribute's.
    pub fn new(name: &str, max_age: Option<SpanText>, cx: &BuildContext<'_>) -> Self {
        let attribute = AttributeRef::resolve(name);
        let max_age = max_age
            .or_else(|| cx.max_age.get(&attribute.key).copied())
            .or_else(|| cx.max_age.get(name).copied())
            .map_or_else(|| attribute.default_max_age(), |text| text.0);
        Self { name: name.to_owned(), attribute, max_age }
    }

    /// Where the snapshot keeps it; look it up once per run.
    pub fn column(&self, snapshot: &Snapshot) -> Option<Column> {
        snapshot.column(&self.attribute.key)
    }

    /// Reads the endpoint's value.
    ///
    /// # Errors
    /// When there is no fresh number, with the reason.
    pub fn read(
        &self,
        cx: &Context<'_>,
        column: Option<Column>,
        endpoint: usize,
    ) -> Result<Measured, Unmeasured> {
        match cx.snapshot.reading(endpoint, column, cx.now, self.max_age) {
            Reading::Fresh { value, measured_at, age } => match value.as_number() {
                Some(number) => Ok(Measured { value: number * self.attribute.scale, measured_at, age }),
                None => Err(Unmeasured::NotANumber),
            },
            Reading::Stale { age } => Err(Unmeasured::Stale { age }),
            Reading::FutureDated => Err(Unmeasured::FutureDated),
            Reading::Missing => Err(Unmeasured::Missing),
        }
    }
}
