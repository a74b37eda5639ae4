//! The grammar of a line with a value: `name{labels} value [timestamp] [# exemplar]`.

use crate::{
    Reason, Sample,
    braces::Braces,
    cursor::Cursor,
    number::{read_milliseconds, read_seconds, read_value},
};

/// In which unit a text writes its timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimestampUnit {
    /// Whole milliseconds: the Prometheus text format.
    Milliseconds,
    /// Seconds with a fraction: OpenMetrics.
    Seconds,
}

/// What is known about a line before it is read.
pub(crate) struct Place<U> {
    /// Its number.
    pub(crate) line: usize,
    /// How many labels it probably has.
    pub(crate) labels: usize,
    /// Finds out the unit of timestamps; asked only for a line that has one.
    pub(crate) unit: U,
}

/// Reads one sample.
pub(crate) fn read_sample<'a>(
    mut rest: Cursor<'a>,
    place: Place<impl FnOnce() -> TimestampUnit>,
) -> Result<Sample<'a>, Reason> {
    let outside = rest.take_name();
    if !matches!(rest.peek(), None | Some(b' ' | b'\t' | b'{')) {
        return Err(Reason::NotAName);
    }
    rest.skip_blanks();
    let Braces { name: inside, labels } =
        if rest.eat(b'{') { Braces::read(&mut rest, place.labels)? } else { Braces::default() };
    let name = match (outside, inside) {
        (Some(name), None) | (None, Some(name)) => name,
        (Some(_), Some(_)) => return Err(Reason::SecondName),
        (None, None) => return Err(Reason::NotAName),
    };
    rest.skip_blanks();
    let value = take_value(&mut rest)?;
    let timestamp_micros = match take_timestamp(&mut rest) {
        Some(word) => Some(
            match (place.unit)() {
                TimestampUnit::Milliseconds => read_milliseconds(word),
                TimestampUnit::Seconds => read_seconds(word),
            }
            .ok_or(Reason::NotATimestamp)?,
        ),
        None => None,
    };
    if rest.eat(b'#') {
        read_exemplar(&mut rest)?;
    }
    if !rest.is_empty() {
        return Err(Reason::TrailingText);
    }
    Ok(Sample { name, labels, value, timestamp_micros, line: place.line })
}

fn take_value(rest: &mut Cursor<'_>) -> Result<f64, Reason> {
    let word = rest.take_word();
    rest.skip_blanks();
    match word {
        "" | "#" => Err(Reason::NoValue),
        word => read_value(word).ok_or(Reason::NotANumber),
    }
}

fn take_timestamp<'a>(rest: &mut Cursor<'a>) -> Option<&'a str> {
    if matches!(rest.peek(), None | Some(b'#')) {
        return None;
    }
    let word = rest.take_word();
    rest.skip_blanks();
    Some(word)
}

/// The exemplar after `#`: `{labels} value [timestamp]`. Its content is not kept.
fn read_exemplar(rest: &mut Cursor<'_>) -> Result<(), Reason> {
    rest.skip_blanks();
    if !rest.eat(b'{') || Braces::read(rest, 1)?.name.is_some() {
        return Err(Reason::NotAnExemplar);
    }
    rest.skip_blanks();
    take_value(rest).map_err(|_| Reason::NotAnExemplar)?;
    match take_timestamp(rest) {
        Some(word) if read_seconds(word).is_none() => Err(Reason::NotAnExemplar),
        _ => Ok(()),
    }
}
