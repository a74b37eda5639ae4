//! Reading an attribute the way every plugin does: with an age limit, in the config's unit, and with
//! a declared answer for a value that is missing.

use std::ops::RangeInclusive;

use headroom_datalayer::{AttributeRef, Column, Reading, Snapshot, Span, SpanText, Value, well_known};
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
    /// so it never keeps the fallback from working; and a filter that never yields a wrong endpoint
    /// keeps it only while no endpoint is known to meet the constraint. A scorer gives the mean of the
    /// scores of the endpoints that have a value, 0 if none has.
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
    /// The number is one that cannot be, for instance a queue of -1 or a utilisation of 70,000 %.
    Impossible,
}

/// A fresh number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// As reported, in the unit of the config.
    pub value: f64,
    /// Requests that this proxy sent since then, where the value is a number of requests: they are not
    /// in it, so they are added.
    pub sent_since: u32,
    /// How long ago it was measured.
    pub age: Span,
}

impl Measured {
    /// The value as of this moment.
    pub fn total(&self) -> f64 {
        self.value + f64::from(self.sent_since)
    }
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
    /// Whether the attribute is a number of requests, which grows by what this proxy sends.
    pub counts_requests: bool,
    /// The numbers that can be, as they are stored.
    possible: RangeInclusive<f64>,
}

impl AttributeSource {
    /// The attribute `name` with the plugin's own age limit, else the pool's, else the attribute's.
    pub fn new(name: &str, max_age: Option<SpanText>, cx: &BuildContext<'_>) -> Self {
        let attribute = AttributeRef::resolve(name);
        let max_age = max_age
            .or_else(|| cx.max_age.get(&attribute.key).copied())
            .or_else(|| cx.max_age.get(name).copied())
            .map_or_else(|| attribute.default_max_age(), |text| text.0);
        let counts_requests = [well_known::WAITING_QUEUE_SIZE, well_known::RUNNING_REQUESTS_SIZE]
            .contains(&attribute.key.as_str());
        let possible = attribute.possible();
        Self { name: name.to_owned(), attribute, max_age, counts_requests, possible }
    }

    /// Where the snapshot keeps it; look it up once per run.
    pub fn column(&self, snapshot: &Snapshot) -> Option<Column> {
        snapshot.column(&self.attribute.key)
    }

    /// The endpoint's number, if it is fresh.
    ///
    /// # Errors
    /// Why there is none.
    pub fn read(
        &self,
        cx: &Context<'_>,
        column: Option<Column>,
        endpoint: usize,
    ) -> Result<Measured, Unmeasured> {
        match cx.snapshot.reading(endpoint, column, cx.now, self.max_age) {
            Reading::Fresh { value, measured_at, age } => {
                let stored = value.as_number().ok_or(Unmeasured::NotANumber)?;
                if !self.possible.contains(&stored) {
                    return Err(Unmeasured::Impossible);
                }
                let value = stored * self.attribute.scale;
                // The alias' unit may be too small for the number.
                if !value.is_finite() {
                    return Err(Unmeasured::NotANumber);
                }
                let sent_since = if self.counts_requests {
                    cx.local.load.requests_since(endpoint, measured_at)
                } else {
                    0
                };
                Ok(Measured { value, sent_since, age })
            }
            absent => Err(absent.into()),
        }
    }

    /// The endpoint's names, if they are fresh.
    ///
    /// # Errors
    /// Why there are none.
    pub fn read_names<'s>(
        &self,
        cx: &Context<'s>,
        column: Option<Column>,
        endpoint: usize,
    ) -> Result<&'s [String], Unmeasured> {
        match cx.snapshot.reading(endpoint, column, cx.now, self.max_age) {
            Reading::Fresh { value: Value::Names(names), .. } => Ok(names),
            absent => Err(absent.into()),
        }
    }

    /// The value in words, with its age, or why there is none.
    pub fn describe(&self, cx: &Context<'_>, endpoint: usize) -> String {
        let name = &self.name;
        let reading = cx.snapshot.reading(endpoint, self.column(cx.snapshot), cx.now, self.max_age);
        match reading {
            Reading::Fresh { value: Value::Names(names), age, .. } => {
                format!("{name} {}, {age} old", names.join(" "))
            }
            _ => match self.read(cx, self.column(cx.snapshot), endpoint) {
                Ok(Measured { value, sent_since: 0, age }) => format!("{name} {}, {age} old", rounded(value)),
                Ok(Measured { value, sent_since, age }) => {
                    format!("{name} {} + {sent_since} sent since, {age} old", rounded(value))
                }
                Err(why) => format!("{name} {why}"),
            },
        }
    }
}

impl From<Reading<'_>> for Unmeasured {
    fn from(reading: Reading<'_>) -> Self {
        match reading {
            Reading::Stale { age } => Self::Stale { age },
            Reading::FutureDated => Self::FutureDated,
            Reading::Missing => Self::Missing,
            Reading::Fresh { .. } => Self::NotANumber,
        }
    }
}

/// Three digits are what a person compares; the rest is length.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
