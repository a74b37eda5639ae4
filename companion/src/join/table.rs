//! The form of a GPU exporter's table.

use crate::extract::Range;

/// What one exporter calls its metrics.
#[derive(Debug)]
pub(crate) struct ExporterTable {
    /// What people call it.
    pub(crate) name: &'static str,
    /// From this number on a value means "no value".
    pub(super) blank: f64,
    /// Metric to attribute. Where several rows give the same attribute, the first one that a GPU has a
    /// value for counts.
    pub(super) rows: &'static [Row],
}

/// How one attribute is found.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) metric: &'static str,
    pub(super) attribute: &'static str,
    pub(super) range: Range,
    /// Factor to the attribute's unit.
    pub(super) scale: f64,
    /// Whether the metric means anything on a card that is cut into slices.
    pub(super) on_slices: bool,
}

impl Row {
    /// The value in the attribute's unit, if it is a possible one.
    pub(super) fn read(&self, value: f64) -> Option<f64> {
        self.range.check(value).map(|value| value * self.scale)
    }

    /// The same, but meaningless on a card that is cut into slices.
    pub(super) const fn on_whole_cards(self) -> Self {
        Self { on_slices: false, ..self }
    }
}

#[cfg(feature = "schema")]
impl Row {
    /// The row in words.
    pub(super) fn describe(&self, exporter: &str) -> crate::ReferenceRow {
        let unit = if self.scale == MIB { ", in MiB" } else { "" };
        let slices = if self.on_slices { "" } else { "; means nothing on a card that is cut into slices" };
        crate::ReferenceRow {
            source: exporter.to_owned(),
            attribute: self.attribute,
            metric: format!("`{}`", self.metric),
            how: format!("{}{unit}{slices}", self.range.words()),
        }
    }
}

/// Bytes in the MiB that exporters report framebuffer in.
pub(super) const MIB: f64 = 1_048_576.0;

pub(super) const fn fraction(metric: &'static str, attribute: &'static str) -> Row {
    Row { metric, attribute, range: Range::Fraction, scale: 1.0, on_slices: true }
}

pub(super) const fn percent(metric: &'static str, attribute: &'static str) -> Row {
    Row { metric, attribute, range: Range::Percent, scale: 1.0, on_slices: true }
}

pub(super) const fn amount(metric: &'static str, attribute: &'static str, scale: f64) -> Row {
    Row { metric, attribute, range: Range::NotNegative, scale, on_slices: true }
}
