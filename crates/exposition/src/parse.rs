//! The text as a whole.

use crate::{
    Kind, LineError, Reason, Sample,
    cursor::Cursor,
    family::{Families, kind_of, read_comment},
    line::{TimestampUnit, read_sample},
};

/// How much of a text is read. What is beyond a limit is an error of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line, in bytes.
    pub line_bytes: usize,
    /// The most samples.
    pub samples: usize,
    /// The most errors that are kept; further ones are only counted.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line_bytes: 64 * 1024, samples: 500_000, errors: 100 }
    }
}

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed<'a> {
    /// The samples of all lines that could be read, in the order of the text.
    pub samples: Vec<Sample<'a>>,
    /// The lines that could not be read, in the order of the text, up to [`Limits::errors`].
    pub errors: Vec<LineError>,
    /// How many lines could not be read, those beyond [`Limits::errors`] included.
    pub error_count: usize,
    families: Families<'a>,
}

impl Parsed<'_> {
    /// The type that the text declares for the family of the sample called `name`, wherever in the
    /// text it does so; `None` where it declares none.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        kind_of(&self.families, name)
    }

    fn error(&mut self, line: usize, reason: Reason, limits: Limits) {
        self.error_count += 1;
        if self.errors.len() < limits.errors {
            self.errors.push(LineError { line, reason });
        }
    }
}

/// Reads a text within the default [`Limits`].
pub fn parse(text: &str) -> Parsed<'_> {
    parse_within(text, Limits::default())
}

/// Reads a text within `limits`.
pub fn parse_within(text: &str, limits: Limits) -> Parsed<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let unit = timestamp_unit(text);
    let mut parsed = Parsed::default();
    for (index, line) in text.split('\n').enumerate() {
        let number = index + 1;
        if line.len() > limits.line_bytes {
            parsed.error(number, Reason::LineTooLong, limits);
            continue;
        }
        let line = line.trim_matches([' ', '\t', '\r']);
        if line.is_empty() {
            continue;
        }
        let read = match line.strip_prefix('#') {
            Some(comment) => read_comment(Cursor::new(comment), &mut parsed.families),
            None if parsed.samples.len() >= limits.samples => {
                parsed.error(number, Reason::TooManySamples, limits);
                break;
            }
            None => read_sample(line, number, unit).map(|sample| parsed.samples.push(sample)),
        };
        if let Err(reason) = read {
            parsed.error(number, reason, limits);
        }
    }
    parsed
}

fn timestamp_unit(text: &str) -> TimestampUnit {
    let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
    if last.trim() == "# EOF" { TimestampUnit::Seconds } else { TimestampUnit::Milliseconds }
}
