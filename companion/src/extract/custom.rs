//! Attributes that the config reads from metrics of its own choice.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use headroom_datalayer::Combine;
use headroom_exposition::{Kind, Sample};

use super::{Cell, combine_by, families::Families, memory::EngineMemory};

/// A metric that becomes an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Custom {
    /// The attribute.
    pub(crate) attribute: Arc<str>,
    /// The metric.
    pub(crate) metric: String,
    /// Labels that its series must have.
    pub(crate) matching: BTreeMap<String, String>,
    /// How several series become one value.
    pub(crate) aggregate: Combine,
    /// Factor to the attribute's unit.
    pub(crate) scale: f64,
    /// The numbers that the attribute can have.
    pub(crate) possible: RangeInclusive<f64>,
    /// Whether the metric is a counter, and what it gains in a second is the value.
    pub(crate) rate: bool,
}

impl Custom {
    /// The value, if the scrape has one; notes say why it has none although the metric is there.
    pub(super) fn read(
        &self,
        families: &Families<'_>,
        memory: &mut EngineMemory,
        notes: &mut Vec<String>,
    ) -> Option<headroom_datalayer::Sample> {
        let matches = |sample: &&&Sample<'_>| {
            self.matching.iter().all(|(name, value)| sample.label(name) == Some(value))
        };
        let series: Vec<_> = families.series("", &self.metric).iter().filter(matches).copied().collect();
        let (attribute, metric) = (&self.attribute, &self.metric);
        if let Some(kind @ (Kind::Counter | Kind::Histogram | Kind::Summary)) =
            series.first().and_then(|sample| families.kind(sample))
            && !self.rate
        {
            notes.push(format!(
                "{metric} is declared a {} where {attribute} wants a gauge, and is not used; rate: true would take \
                 what it gains in a second",
                kind.as_str()
            ));
            return None;
        }
        let cell = |sample: &Sample<'_>| match sample.value * self.scale {
            value if value.is_finite() && (self.rate || self.possible.contains(&value)) => {
                Cell::Value(value, families.measured_at(sample))
            }
            _ => Cell::Invalid,
        };
        let cells: Vec<Cell> = series.iter().map(|sample| cell(sample)).collect();
        if cells.contains(&Cell::Invalid) {
            notes.push(format!("{metric} has a value that {attribute} cannot have, and it is not used"));
        }
        let value = combine_by(self.aggregate, cells)?;
        if self.rate {
            let total = value.value.as_number()?;
            return memory.rate(&self.attribute, total, value.measured_at);
        }
        Some(value)
    }
}
