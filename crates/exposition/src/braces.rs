//! What stands in braces: labels, and a metric name that needs quotes.

use std::borrow::Cow;

use crate::{Label, Reason, cursor::Cursor};

/// More labels than any exporter writes; bounds the work that one line can cause.
const MAX_LABELS: usize = 128;

/// The content of a pair of braces.
#[derive(Debug, Default)]
pub(crate) struct Braces<'a> {
    /// The metric name, where it stands inside: `{"http.requests", code="200"}`.
    pub(crate) name: Option<&'a str>,
    /// The labels, no name twice.
    pub(crate) labels: Vec<Label<'a>>,
}

enum Item<'a> {
    Name(&'a str),
    Label(Label<'a>),
}

impl<'a> Braces<'a> {
    /// Reads what follows `{`, up to and including `}`. A comma may stand before the brace. There is
    /// room for `expected` labels from the start.
    pub(crate) fn read(rest: &mut Cursor<'a>, expected: usize) -> Result<Self, Reason> {
        let mut braces = Self { name: None, labels: Vec::with_capacity(expected) };
        loop {
            rest.skip_blanks();
            if rest.eat(b'}') {
                return Ok(braces);
            }
            if rest.is_empty() {
                return Err(Reason::UnterminatedLabels);
            }
            braces.add(read_item(rest)?)?;
            rest.skip_blanks();
            if rest.eat(b',') {
                continue;
            }
            if rest.eat(b'}') {
                return Ok(braces);
            }
            return Err(if rest.is_empty() { Reason::UnterminatedLabels } else { Reason::NoComma });
        }
    }

    fn add(&mut self, item: Item<'a>) -> Result<(), Reason> {
        match item {
            Item::Name(_) if self.name.is_some() => return Err(Reason::SecondName),
            Item::Name(name) => self.name = Some(name),
            Item::Label(label) => {
                if self.labels.iter().any(|known| known.name == label.name) {
                    return Err(Reason::DuplicateLabel);
                }
                if self.labels.len() == MAX_LABELS {
                    return Err(Reason::TooManyLabels);
                }
                self.labels.push(label);
            }
        }
        Ok(())
    }
}

fn read_item<'a>(rest: &mut Cursor<'a>) -> Result<Item<'a>, Reason> {
    let quoted = rest.eat(b'"');
    let name = if quoted { read_quoted_name(rest)? } else { rest.take_label_name() };
    let name = name.ok_or(Reason::NotALabelName)?;
    rest.skip_blanks();
    if rest.eat(b'=') {
        rest.skip_blanks();
        if rest.eat(b'"') {
            return Ok(Item::Label(Label { name, value: read_quoted(rest)? }));
        }
    } else if quoted && !rest.is_empty() {
        return Ok(Item::Name(name));
    }
    Err(if rest.is_empty() { Reason::UnterminatedLabels } else { Reason::NotALabelValue })
}

/// A name after its opening quote, up to and including the closing one; `None` where it is empty.
pub(crate) fn read_quoted_name<'a>(rest: &mut Cursor<'a>) -> Result<Option<&'a str>, Reason> {
    let name = rest.take_unescaped().ok_or(Reason::UnterminatedLabels)?;
    if !rest.eat(b'"') {
        return Err(Reason::EscapedName);
    }
    Ok(Some(name).filter(|name| !name.is_empty()))
}

/// A value after its opening quote, up to and including the closing one.
fn read_quoted<'a>(rest: &mut Cursor<'a>) -> Result<Cow<'a, str>, Reason> {
    let plain = rest.take_unescaped().ok_or(Reason::UnterminatedLabels)?;
    if rest.eat(b'"') {
        return Ok(Cow::Borrowed(plain));
    }
    read_escaped(plain, rest).map(Cow::Owned)
}

/// The value that starts with `plain` and goes on with an escape. One that neither format defines
/// stands for itself, as Prometheus reads it.
#[cold]
fn read_escaped(plain: &str, rest: &mut Cursor<'_>) -> Result<String, Reason> {
    let mut value = String::from(plain);
    while rest.eat(b'\\') {
        match rest.next_char().ok_or(Reason::UnterminatedLabels)? {
            'n' => value.push('\n'),
            c @ ('"' | '\\') => value.push(c),
            other => value.extend(['\\', other]),
        }
        value.push_str(rest.take_unescaped().ok_or(Reason::UnterminatedLabels)?);
    }
    rest.eat(b'"');
    Ok(value)
}
