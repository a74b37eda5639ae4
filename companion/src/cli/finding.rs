//! One thing that a command has to say about a file.

use std::fmt;

use headroom_scheduling::Invalid;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The config does not work.
    Error,
    /// The config works, and something in it does nothing or is probably not meant.
    Warning,
}

/// One thing to say: where, what stands there, why it is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// How bad it is.
    pub(crate) severity: Severity,
    /// Where in the file; empty for the whole of it.
    pub(crate) path: String,
    /// What stands there; empty where nothing does.
    pub(crate) value: String,
    /// Why.
    pub(crate) reason: String,
}

impl Finding {
    /// Something that must be changed.
    pub(crate) fn error(
        path: impl Into<String>,
        value: impl fmt::Display,
        reason: impl Into<String>,
    ) -> Self {
        let (path, value, reason) = (path.into(), value.to_string(), reason.into());
        Self { severity: Severity::Error, path, value, reason }
    }

    /// Something to know.
    pub(crate) fn warning(
        path: impl Into<String>,
        value: impl fmt::Display,
        reason: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, value, reason) }
    }

    /// Whether it is an error.
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl From<Invalid> for Finding {
    fn from(fault: Invalid) -> Self {
        Self::error(fault.path, fault.value, fault.reason)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
        })?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        if !self.value.is_empty() {
            write!(f, "{}: ", self.value)?;
        }
        f.write_str(&self.reason)
    }
}

/// The findings, a line each, after the file's name.
pub(crate) fn lines(file: &std::path::Path, findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{}: {finding}\n", file.display())).collect()
}
