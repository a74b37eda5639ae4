//! What is wrong with a config.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigError {
    /// Where, for instance `pools[0].endpoints[2].address`.
    pub(crate) path: String,
    /// What stands there, as JSON; empty where nothing does.
    pub(crate) value: String,
    /// Why it cannot be used.
    pub(crate) reason: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, value, reason } = self;
        if value.is_empty() { write!(f, "{path}: {reason}") } else { write!(f, "{path}: {value}: {reason}") }
    }
}

/// Everything that is wrong, in the order it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub(crate) struct ConfigErrors(Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl ConfigErrors {
    pub(crate) fn single(path: String, value: &str, reason: String) -> Self {
        Self(vec![ConfigError { path, value: value.to_owned(), reason }])
    }

    /// Adds an error, unless something above it in the file was already refused: what follows from
    /// that says nothing new.
    pub(crate) fn push(&mut self, path: &str, value: impl fmt::Display, reason: impl fmt::Display) {
        let covered = self.0.iter().any(|known| {
            path.strip_prefix(known.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        if !covered {
            let (value, reason) = (value.to_string(), reason.to_string());
            // Some reasons quote the value themselves.
            let reason = reason.strip_prefix(&value).map_or(reason.as_str(), str::trim_start).to_owned();
            self.0.push(ConfigError { path: path.to_owned(), value: shorten(&value), reason });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors, in the order they were found.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ConfigError> {
        self.0.iter()
    }
}

fn shorten(value: &str) -> String {
    const LONGEST: usize = 80;
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    let start: String = value.chars().take(LONGEST).collect();
    format!("{start}…")
}

/// Text as it is written in JSON.
pub(super) fn quoted(text: &str) -> String {
    format!("{text:?}")
}
