//! The text as a whole.

use std::iter::once;

use memchr::memchr_iter;

use crate::{
    Kind, LineError, Reason, Sample,
    cursor::Cursor,
    family::{Families, kind_of, read_comment},
    line::{Place, TimestampUnit, read_sample},
};

/// About as long as exporters write their lines: only how much room is made beforehand depends on it.
const BYTES_PER_LINE: usize = 128;

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
    let mut parsed = Parsed::default();
    parsed.samples.reserve((text.len() / BYTES_PER_LINE).min(limits.samples));
    let mut unit = None;
    let mut eof = None;
    for (index, line) in lines(text).enumerate() {
        let number = index + 1;
        let mut rest = Cursor::new(line);
        if rest.is_empty() {
            continue;
        }
        if let Some(eof) = eof.take() {
            parsed.error(eof, Reason::EofBeforeEnd, limits);
        }
        let read = if line.len() > limits.line_bytes {
            Err(Reason::LineTooLong)
        } else if rest.eat(b'#') {
            eof = is_eof(rest).then_some(number);
            read_comment(rest, &mut parsed.families)
        } else if parsed.samples.len() >= limits.samples {
            parsed.error(number, Reason::TooManySamples, limits);
            break;
        } else {
            // An exporter writes the same labels line after line.
            let labels = parsed.samples.last().map_or(0, |sample| sample.labels.len());
            let unit = || *unit.get_or_insert_with(|| timestamp_unit(text));
            read_sample(rest, Place { line: number, labels, unit }).map(|sample| parsed.samples.push(sample))
        };
        if let Err(reason) = read {
            parsed.error(number, reason, limits);
        }
    }
    parsed
}

/// The lines without their line feeds.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr_iter(b'\n', text.as_bytes()).chain(once(text.len()));
    ends.scan(0, |start, end| {
        let line = text.get(*start..end).unwrap_or_default();
        *start = end + 1;
        Some(line)
    })
}

/// OpenMetrics is the format that has an `# EOF`. It is looked for last line first: that is its place.
fn timestamp_unit(text: &str) -> TimestampUnit {
    let is_open_metrics = text.rsplit('\n').any(|line| {
        let mut rest = Cursor::new(line);
        rest.eat(b'#') && is_eof(rest)
    });
    if is_open_metrics { TimestampUnit::Seconds } else { TimestampUnit::Milliseconds }
}

/// Whether this is what follows the `#` of `# EOF`.
fn is_eof(mut comment: Cursor<'_>) -> bool {
    comment.eat(b' ') && comment.take_word() == "EOF" && comment.is_empty()
}
