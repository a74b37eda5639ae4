//! Walking along one line.
//!
//! The line is looked at byte by byte: everything the grammar names is ASCII, and a byte of it never
//! stands inside a longer UTF-8 character.

use memchr::memchr2;

/// What is left of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// `line` without the blanks and the carriage return around it.
    pub(crate) fn new(line: &'a str) -> Self {
        let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r');
        let bytes = line.as_bytes();
        let start = bytes.iter().position(is_text).unwrap_or(bytes.len());
        let end = bytes.iter().rposition(is_text).map_or(start, |last| last + 1);
        Self(line.get(start..end).unwrap_or_default())
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next byte, which stays.
    pub(crate) fn peek(self) -> Option<u8> {
        self.0.as_bytes().first().copied()
    }

    /// Steps over the ASCII character `token` if it comes next.
    pub(crate) fn eat(&mut self, token: u8) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.take(1);
        }
        found
    }

    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.take(1);
        }
    }

    /// Everything up to the next blank.
    pub(crate) fn take_word(&mut self) -> &'a str {
        self.take_while(|byte| !matches!(byte, b' ' | b'\t'))
    }

    /// A metric name: letters, digits, `_` and `:`, no digit first.
    pub(crate) fn take_name(&mut self) -> Option<&'a str> {
        self.take_identifier(|byte| is_of_label_name(byte) || byte == b':')
    }

    /// A label name: letters, digits and `_`, no digit first.
    pub(crate) fn take_label_name(&mut self) -> Option<&'a str> {
        self.take_identifier(is_of_label_name)
    }

    /// Everything before the next quote or backslash, which there must be.
    pub(crate) fn take_unescaped(&mut self) -> Option<&'a str> {
        memchr2(b'"', b'\\', self.0.as_bytes()).map(|at| self.take(at))
    }

    /// The next character, whatever it is.
    pub(crate) fn next_char(&mut self) -> Option<char> {
        let mut chars = self.0.chars();
        let next = chars.next();
        self.0 = chars.as_str();
        next
    }

    fn take_identifier(&mut self, belongs: impl Fn(u8) -> bool) -> Option<&'a str> {
        if self.peek()?.is_ascii_digit() {
            return None;
        }
        let taken = self.take_while(belongs);
        (!taken.is_empty()).then_some(taken)
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let bytes = self.0.as_bytes();
        self.take(bytes.iter().position(|byte| !belongs(*byte)).unwrap_or(bytes.len()))
    }

    /// The next `length` bytes, or all that is left where they would end inside a character.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.0.split_at_checked(length).unwrap_or((self.0, ""));
        self.0 = rest;
        taken
    }
}

fn is_of_label_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
