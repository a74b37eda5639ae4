//! Why a line could not be read.

use std::fmt;

/// A line that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The line's number; the first is 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: Reason,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for LineError {}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The line does not start with a metric name, and has none in quotes inside the braces.
    NotAName,
    /// There is a metric name in the braces and another one.
    SecondName,
    /// A name in quotes has an escape in it. Names are borrowed from the text, so it is not read.
    EscapedName,
    /// A label name was expected.
    NotALabelName,
    /// A label name is not followed by `=` and a quoted value.
    NotALabelValue,
    /// The line ends inside the braces or inside a quoted value.
    UnterminatedLabels,
    /// Between two labels there is no comma.
    NoComma,
    /// The same label name appears twice.
    DuplicateLabel,
    /// There are more labels than one sample may have.
    TooManyLabels,
    /// No value follows the name and labels.
    NoValue,
    /// The value is not a number, or is beyond the range of an `f64`.
    NotANumber,
    /// The timestamp is not a number in the format's unit.
    NotATimestamp,
    /// Something follows the value, timestamp and exemplar.
    TrailingText,
    /// The part after `#` is no exemplar.
    NotAnExemplar,
    /// A `# TYPE` line without a name, or with a type that neither format knows.
    NotAType,
    /// A second `# TYPE` line gives the family another type; the first one counts.
    ConflictingType,
    /// This line says `# EOF`, and it is not the last one. What follows is read all the same.
    EofBeforeEnd,
    /// The line is longer than the limit.
    LineTooLong,
    /// The text has more samples than the limit; nothing after this line was read.
    TooManySamples,
}

impl Reason {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAName => "not a metric name",
            Self::SecondName => "a second metric name",
            Self::EscapedName => "an escape in a quoted name",
            Self::NotALabelName => "not a label name",
            Self::NotALabelValue => "a label without a quoted value",
            Self::UnterminatedLabels => "unterminated label set",
            Self::NoComma => "no comma between two labels",
            Self::DuplicateLabel => "a label is given twice",
            Self::TooManyLabels => "too many labels",
            Self::NoValue => "no value",
            Self::NotANumber => "the value is not a number",
            Self::NotATimestamp => "the timestamp is not a number of the format's unit",
            Self::TrailingText => "unexpected text after the value",
            Self::NotAnExemplar => "not an exemplar after '#'",
            Self::NotAType => "not a type",
            Self::ConflictingType => "the family already has another type",
            Self::EofBeforeEnd => "'# EOF' before the end of the text",
            Self::LineTooLong => "the line is longer than the limit",
            Self::TooManySamples => "more samples than the limit, the rest was not read",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
