//! The grammar of a line with a value: `name{labels} value [timestamp] [# exemplar]`.

use std::borrow::Cow;

use crate::{Label, Reason, Sample, cursor::Cursor};

/// More labels than any exporter writes; bounds the work that one line can cause.
const MAX_LABELS: usize = 128;

/// In which unit a text writes its timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimestampUnit {
    /// Whole milliseconds: the Prometheus text format.
    Milliseconds,
    /// Seconds with a fraction: OpenMetrics.
    Seconds,
}

/// Reads one sample. `text` has no blanks around it and no line end.
pub(crate) fn read_sample(text: &str, line: usize, unit: TimestampUnit) -> Result<Sample<'_>, Reason> {
    let mut rest = Cursor::new(text);
    let name = rest.take_name().ok_or(Reason::NotAName)?;
    rest.skip_blanks();
    let labels = if rest.eat('{') { read_labels(&mut rest)? } else { Vec::new() };
    rest.skip_blanks();
    let value = read_value(&mut rest)?;
    let timestamp_micros = read_timestamp(&mut rest, unit)?;
    if rest.eat('#') {
        read_exemplar(&mut rest)?;
    }
    if !rest.is_empty() {
        return Err(Reason::TrailingText);
    }
    Ok(Sample { name, labels, value, timestamp_micros, line })
}

/// The labels after `{`, up to and including `}`. A comma may stand before the brace.
fn read_labels<'a>(rest: &mut Cursor<'a>) -> Result<Vec<Label<'a>>, Reason> {
    let mut labels: Vec<Label<'a>> = Vec::new();
    loop {
        rest.skip_blanks();
        if rest.eat('}') {
            return Ok(labels);
        }
        if rest.is_empty() {
            return Err(Reason::UnterminatedLabels);
        }
        let label = read_label(rest)?;
        if labels.iter().any(|known| known.name == label.name) {
            return Err(Reason::DuplicateLabel);
        }
        if labels.len() == MAX_LABELS {
            return Err(Reason::TooManyLabels);
        }
        labels.push(label);
        rest.skip_blanks();
        let comma = rest.eat(',');
        if !comma && rest.eat('}') {
            return Ok(labels);
        }
        if !comma {
            return Err(if rest.is_empty() { Reason::UnterminatedLabels } else { Reason::NoComma });
        }
    }
}

fn read_label<'a>(rest: &mut Cursor<'a>) -> Result<Label<'a>, Reason> {
    let name = rest.take_label_name().ok_or(Reason::NotALabelName)?;
    rest.skip_blanks();
    if rest.is_empty() {
        return Err(Reason::UnterminatedLabels);
    }
    if !rest.eat('=') {
        return Err(Reason::NotALabelValue);
    }
    rest.skip_blanks();
    if rest.is_empty() {
        return Err(Reason::UnterminatedLabels);
    }
    if !rest.eat('"') {
        return Err(Reason::NotALabelValue);
    }
    Ok(Label { name, value: read_quoted(rest)? })
}

/// The value after the opening quote, up to and including the closing one. An escape that neither
/// format defines stands for itself, as Prometheus reads it.
fn read_quoted<'a>(rest: &mut Cursor<'a>) -> Result<Cow<'a, str>, Reason> {
    let is_special = |c| matches!(c, '"' | '\\');
    let plain = rest.take_until(is_special);
    if rest.eat('"') {
        return Ok(Cow::Borrowed(plain));
    }
    let mut value = String::from(plain);
    loop {
        match rest.next_char() {
            Some('"') => return Ok(Cow::Owned(value)),
            Some(_backslash) => match rest.next_char() {
                Some('n') => value.push('\n'),
                Some(c @ ('"' | '\\')) => value.push(c),
                Some(other) => value.extend(['\\', other]),
                None => return Err(Reason::UnterminatedLabels),
            },
            None => return Err(Reason::UnterminatedLabels),
        }
        value.push_str(rest.take_until(is_special));
    }
}

fn read_value(rest: &mut Cursor<'_>) -> Result<f64, Reason> {
    let word = rest.take_word();
    rest.skip_blanks();
    match word {
        "" | "#" => Err(Reason::NoValue),
        word => word.parse().map_err(|_| Reason::NotANumber),
    }
}

fn read_timestamp(rest: &mut Cursor<'_>, unit: TimestampUnit) -> Result<Option<i64>, Reason> {
    let mut ahead = *rest;
    let word = ahead.take_word();
    if word.is_empty() || word.starts_with('#') {
        return Ok(None);
    }
    ahead.skip_blanks();
    *rest = ahead;
    let micros = match unit {
        TimestampUnit::Milliseconds => word.parse::<i64>().ok().and_then(|ms| ms.checked_mul(1_000)),
        TimestampUnit::Seconds => word.parse().ok().and_then(micros_from_seconds),
    };
    micros.map(Some).ok_or(Reason::NotATimestamp)
}

fn micros_from_seconds(seconds: f64) -> Option<i64> {
    let micros = (seconds * 1e6).round();
    // Beyond this an f64 skips microseconds; the year is 2255.
    (micros.abs() <= 9e15).then(|| {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number that fits, by the check before")]
        let micros = micros as i64;
        micros
    })
}

/// The exemplar after `#`: `{labels} value [timestamp]`. Its content is not kept.
fn read_exemplar(rest: &mut Cursor<'_>) -> Result<(), Reason> {
    rest.skip_blanks();
    if !rest.eat('{') {
        return Err(Reason::NotAnExemplar);
    }
    read_labels(rest)?;
    rest.skip_blanks();
    read_value(rest).map_err(|_| Reason::NotAnExemplar)?;
    read_timestamp(rest, TimestampUnit::Seconds).map_err(|_| Reason::NotAnExemplar)?;
    Ok(())
}
