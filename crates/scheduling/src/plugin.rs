//! What every plugin has: a type name, parameters, and a check of them.

use std::{collections::BTreeMap, fmt, rc::Rc};

use headroom_datalayer::SpanText;
use serde::de::DeserializeOwned;

use crate::Decider;

/// A parameter that is not acceptable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Where, relative to the plugin's entry; empty for the entry itself.
    pub path: String,
    /// The value as it was written.
    pub value: String,
    /// Why not, and what would be.
    pub reason: String,
}

impl Invalid {
    /// One parameter's fault.
    pub fn new(path: impl Into<String>, value: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self { path: path.into(), value: format!("{value}"), reason: reason.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", if self.path.is_empty() { "(whole config)" } else { &self.path })?;
        if !self.value.is_empty() {
            write!(f, "{}: ", self.value)?;
        }
        f.write_str(&self.reason)
    }
}

impl Invalid {
    /// The same fault seen from where `prefix` is the path of the plugin's entry.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        let join = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{prefix}{join}{}", self.path);
        self
    }
}

/// What a plugin's surroundings say.
#[derive(Clone, Copy, Debug)]
pub struct BuildContext<'a> {
    /// The pool's age limits, by attribute.
    pub max_age: &'a BTreeMap<String, SpanText>,
    /// The names of the pool's profiles, in order. For profile handlers.
    pub profiles: &'a [String],
    /// The pool's deciders by name. For profile handlers.
    pub deciders: &'a BTreeMap<String, Rc<dyn Decider>>,
}

/// A plugin: one file with its parameters, its check and its behaviour, and one line in the registry.
pub trait Plugin: Sized {
    /// The name in configs, llm-d's where it has one.
    const TYPE: &'static str;
    /// One sentence for the reference.
    const SUMMARY: &'static str;
    /// The parameters as written.
    type Params: DeserializeOwned + Schema;

    /// Checks the parameters and makes the plugin.
    ///
    /// # Errors
    /// Everything that is wrong with the parameters.
    fn build(params: Self::Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>>;
}

/// Parameters that can describe themselves when the reference is generated.
#[cfg(feature = "schema")]
pub trait Schema: schemars::JsonSchema {}
#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> Schema for T {}

/// Parameters that can describe themselves when the reference is generated.
#[cfg(not(feature = "schema"))]
pub trait Schema {}
#[cfg(not(feature = "schema"))]
impl<T> Schema for T {}
