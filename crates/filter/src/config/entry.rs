//! One plugin's entry: its type, name, weight and parameters, and the plugin they make.

use headroom_scheduling::{BuildContext, Invalid};
use serde_json::{Map, Value};

use super::raw::PluginEntry;
use crate::registry::{self, Entry};

/// Sums of weighted scores stay far from where a f64 loses the small ones.
const MAX_WEIGHT: f64 = 1e6;

/// Everything found wrong so far.
#[derive(Debug, Default)]
pub(super) struct Faults(pub(super) Vec<Invalid>);

impl Faults {
    pub(super) fn add(
        &mut self,
        path: impl Into<String>,
        value: impl std::fmt::Display,
        reason: impl Into<String>,
    ) {
        let fault = Invalid::new(path, value, reason);
        // A plugin that two profiles use is made twice and wrong once.
        if !self.0.contains(&fault) {
            self.0.push(fault);
        }
    }

    /// The value, unless there are faults; those are kept.
    fn take<T>(&mut self, result: Result<T, Vec<Invalid>>, path: &str) -> Option<T> {
        let faults = match result {
            Ok(value) => return Some(value),
            Err(faults) => faults,
        };
        for fault in faults {
            let Invalid { path, value, reason } = fault.within(path);
            self.add(path, value, reason);
        }
        None
    }

    /// A weight, if it is one.
    pub(super) fn weight(&mut self, path: &str, value: &Value) -> Option<f64> {
        let weight = value.as_f64().filter(|weight| (0.0..=MAX_WEIGHT).contains(weight));
        if weight.is_none() {
            self.add(format!("{path}.weight"), value, format!("must be a number from 0 to {MAX_WEIGHT}"));
        }
        weight
    }
}

/// An entry whose outer form is right.
#[derive(Debug)]
pub(super) struct Read {
    /// What the config calls it; by default its type.
    pub(super) name: String,
    /// Its type.
    pub(super) kind: String,
    /// The weight beside the type.
    pub(super) weight: Option<f64>,
    /// Where it stands.
    pub(super) path: String,
    parameters: Map<String, Value>,
    parameters_at: String,
}

impl Read {
    /// Reads an entry; `implied` is its type when it gives none.
    pub(super) fn new(
        PluginEntry(mut entry): PluginEntry,
        implied: Option<&str>,
        path: String,
        faults: &mut Faults,
    ) -> Option<Self> {
        let mut text = |key: &str, faults: &mut Faults| match entry.remove(key) {
            None => None,
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            Some(other) => {
                faults.add(format!("{path}.{key}"), other, "must be a string that is not empty");
                None
            }
        };
        let name = text("name", faults);
        let Some(kind) = text("type", faults).or_else(|| implied.map(str::to_owned)) else {
            faults.add(format!("{path}.type"), "", "must name the plugin's type");
            return None;
        };
        let weight = entry.remove("weight").and_then(|value| faults.weight(&path, &value));
        let mut parameters_at = path.clone();
        match entry.remove("parameters") {
            // In YAML an empty "parameters:" is null.
            None | Some(Value::Null) => {}
            Some(Value::Object(parameters)) if entry.is_empty() => {
                entry = parameters;
                parameters_at.push_str(".parameters");
            }
            Some(Value::Object(_)) => {
                let reason = "give parameters here or beside the type, not in both places";
                faults.add(format!("{path}.parameters"), "", reason);
            }
            Some(other) => faults.add(format!("{path}.parameters"), other, "must be an object"),
        }
        let name = name.unwrap_or_else(|| kind.clone());
        Some(Self { name, kind, weight, path, parameters: entry, parameters_at })
    }

    /// Says that a plugin of this role has no weight, if the entry gives one.
    pub(super) fn refuse_weight(&self, role: &str, faults: &mut Faults) {
        if let Some(weight) = self.weight {
            faults.add(format!("{}.weight", self.path), weight, format!("{role} has no weight"));
        }
    }

    /// Makes the plugin, which must be one of `entries`.
    pub(super) fn make<T: ?Sized>(
        &self,
        entries: &[Entry<T>],
        cx: &BuildContext<'_>,
        faults: &mut Faults,
    ) -> Option<Box<T>> {
        match registry::find(entries, &self.kind) {
            Ok(found) => {
                faults.take((found.build)(Value::Object(self.parameters.clone()), cx), &self.parameters_at)
            }
            Err(reason) => {
                faults.add(format!("{}.type", self.path), format!("{:?}", self.kind), reason);
                None
            }
        }
    }

    /// Makes the plugin if it is one of `entries`.
    pub(super) fn make_if_known<T: ?Sized>(
        &self,
        entries: &[Entry<T>],
        cx: &BuildContext<'_>,
        faults: &mut Faults,
    ) -> Option<Box<T>> {
        entries.iter().any(|entry| entry.kind == self.kind).then(|| self.make(entries, cx, faults))?
    }
}

/// Names tell plugins apart in explanations and references.
pub(super) fn unique<'a>(
    names: impl Iterator<Item = &'a String>,
    path: &str,
    role: &str,
    faults: &mut Faults,
) {
    let mut seen: Vec<&String> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            let reason = format!("two {role} have this name; give one of them a \"name\" of its own");
            faults.add(path, format!("{name:?}"), reason);
        }
        seen.push(name);
    }
}
