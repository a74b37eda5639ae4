//! Walking along one line.

/// What is left of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self(line)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Steps over `token` if it comes next.
    pub(crate) fn eat(&mut self, token: char) -> bool {
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    pub(crate) fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    /// Everything up to the next blank.
    pub(crate) fn take_word(&mut self) -> &'a str {
        self.take_until(|c| matches!(c, ' ' | '\t'))
    }

    /// A metric name: letters, digits, `_` and `:`, no digit first.
    pub(crate) fn take_name(&mut self) -> Option<&'a str> {
        self.take_identifier(|c| c == ':')
    }

    /// A label name: letters, digits and `_`, no digit first.
    pub(crate) fn take_label_name(&mut self) -> Option<&'a str> {
        self.take_identifier(|_| false)
    }

    fn take_identifier(&mut self, also: impl Fn(char) -> bool) -> Option<&'a str> {
        if self.0.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let taken = self.take_until(|c| !(c.is_ascii_alphanumeric() || c == '_' || also(c)));
        (!taken.is_empty()).then_some(taken)
    }

    /// Everything before the first character that `stop` accepts, or all that is left.
    pub(crate) fn take_until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(stop).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at_checked(end).unwrap_or((self.0, ""));
        self.0 = rest;
        taken
    }

    /// The next character, whatever it is.
    pub(crate) fn next_char(&mut self) -> Option<char> {
        let mut chars = self.0.chars();
        let next = chars.next();
        self.0 = chars.as_str();
        next
    }
}
