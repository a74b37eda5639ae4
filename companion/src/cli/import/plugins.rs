//! The list of plugins.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{parameters, types};
use crate::cli::finding::Finding;

/// The plugins of a converted config.
#[derive(Debug, Default)]
pub(super) struct Plugins {
    /// Their entries.
    pub(super) kept: Vec<Value>,
    /// Their index in the source.
    pub(super) origins: Vec<usize>,
    /// Today's type by name, of those that are kept.
    pub(super) kinds: BTreeMap<String, String>,
    /// The names of those that are not.
    pub(super) left_out: Vec<String>,
}

/// Carries the plugins over.
pub(super) fn carry_over(entries: &[Value], findings: &mut Vec<Finding>) -> Plugins {
    let mut plugins = Plugins::default();
    for (index, entry) in entries.iter().enumerate() {
        one(entry, index, &mut plugins, findings);
    }
    add_decider(&mut plugins, findings);
    plugins
}

fn one(entry: &Value, index: usize, plugins: &mut Plugins, findings: &mut Vec<Finding>) {
    let path = format!("plugins[{index}]");
    let Some(entry) = entry.as_object() else {
        findings.push(Finding::error(path, entry, "must be a mapping with a type"));
        return;
    };
    for key in entry.keys().filter(|key| !["name", "type", "parameters"].contains(&key.as_str())) {
        findings.push(Finding::error(format!("{path}.{key}"), "", "a plugin of llm-d's has no such field"));
    }
    let Some(kind) = entry.get("type").and_then(Value::as_str).filter(|kind| !kind.is_empty()) else {
        findings.push(Finding::error(format!("{path}.type"), "", "must name the plugin's type"));
        return;
    };
    let name = entry.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or(kind);
    let at = format!("{path}.type");
    if let Some(reason) = types::refused(kind) {
        findings.push(Finding::error(at, kind, reason));
        plugins.left_out.push(name.to_owned());
        return;
    }
    if let Some(reason) = types::left_out(kind) {
        findings.push(Finding::warning(at, kind, format!("left out: {reason}")));
        plugins.left_out.push(name.to_owned());
        return;
    }
    let mut given = match entry.get("parameters") {
        Some(Value::Object(given)) => given.clone(),
        None | Some(Value::Null) => Map::new(),
        Some(other) => {
            findings.push(Finding::error(format!("{path}.parameters"), other, "must be a mapping"));
            Map::new()
        }
    };
    let kind = parameters::adapt(kind, &mut given, &format!("{path}.parameters"), findings);
    let mut kept = Map::new();
    kept.insert("type".to_owned(), json!(kind));
    if name != kind {
        kept.insert("name".to_owned(), json!(name));
    }
    if !given.is_empty() {
        kept.insert("parameters".to_owned(), Value::Object(given));
    }
    plugins.kinds.insert(name.to_owned(), kind);
    plugins.kept.push(Value::Object(kept));
    plugins.origins.push(index);
}

const DECIDER: &str = "prefix-based-pd-decider";

/// The older P/D handler has a decider that need not be among the plugins.
fn add_decider(plugins: &mut Plugins, findings: &mut Vec<Finding>) {
    let named =
        |entry: &Value| entry.pointer("/parameters/deciders/prefill").is_some_and(|name| name == DECIDER);
    if plugins.kept.iter().any(named) && !plugins.kinds.contains_key(DECIDER) {
        let reason = "added with its default, which never asks for a prefill stage; set nonCachedTokens";
        findings.push(Finding::warning("plugins", DECIDER, reason));
        plugins.kept.push(json!({"type": DECIDER}));
        plugins.kinds.insert(DECIDER.to_owned(), DECIDER.to_owned());
    }
}
