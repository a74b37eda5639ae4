//! Prometheus text, written.

use std::fmt::{Display, Write};

/// A text under way.
#[derive(Debug, Default)]
pub(super) struct Text(String);

impl Text {
    /// Starts a family.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"));
    }

    /// Adds a sample.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        self.line(format_args!("{name}{{{}}} {value}", labels.join(",")));
    }

    /// Adds a family of one sample.
    pub(super) fn one(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        labels: &[(&str, &str)],
        value: impl Display,
    ) {
        self.family(name, kind, help);
        self.sample(name, labels, value);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string does not fail.
        let _infallible = writeln!(self.0, "{line}");
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
