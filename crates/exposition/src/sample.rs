//! One line with a value.

use std::borrow::Cow;

/// A label: name and unescaped value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label<'a> {
    /// The name.
    pub name: &'a str,
    /// The value, with escapes resolved; copied only where there were any.
    pub value: Cow<'a, str>,
}

/// One sample as it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The metric's name, suffix included.
    pub name: &'a str,
    /// The labels, in the order of the text; no name twice.
    pub labels: Vec<Label<'a>>,
    /// The value, which may be NaN or infinite.
    pub value: f64,
    /// The sample's own time, microseconds since the Unix epoch, if it has one.
    pub timestamp_micros: Option<i64>,
    /// The number of the line; the first is 1.
    pub line: usize,
}

impl Sample<'_> {
    /// The value of the label `name`, if the sample has it.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|label| label.name == name).map(|label| label.value.as_ref())
    }
}
