//! The profiles.

use headroom_filter::registry::SCORERS;
use serde_json::{Map, Value, json};

use super::plugins::Plugins;
use crate::cli::finding::Finding;

/// Carries the profiles over; with the index in the source of each reference.
pub(super) fn carry_over(
    entries: &[Value],
    plugins: &Plugins,
    findings: &mut Vec<Finding>,
) -> (Vec<Value>, Vec<Vec<usize>>) {
    let mut origins = Vec::new();
    let mut profiles = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let path = format!("schedulingProfiles[{index}]");
        let mut profile = entry.as_object().cloned().unwrap_or_default();
        let mut kept_from = Vec::new();
        if let Some(Value::Array(references)) = profile.get_mut("plugins") {
            let mut kept = Vec::new();
            for (at, reference) in references.drain(..).enumerate() {
                let path = format!("{path}.plugins[{at}]");
                if let Some(reference) = one(reference, &path, plugins, findings) {
                    kept.push(reference);
                    kept_from.push(at);
                }
            }
            *references = kept;
        }
        origins.push(kept_from);
        profiles.push(Value::Object(profile));
    }
    (profiles, origins)
}

fn one(reference: Value, path: &str, plugins: &Plugins, findings: &mut Vec<Finding>) -> Option<Value> {
    let mut reference: Map<String, Value> = match reference {
        Value::Object(reference) => reference,
        other => return Some(other),
    };
    let name = reference.get("pluginRef").and_then(Value::as_str).unwrap_or_default();
    if plugins.left_out.iter().any(|left_out| left_out == name) {
        let reason = "left out: so is the plugin";
        findings.push(Finding::warning(format!("{path}.pluginRef"), json!(name), reason));
        return None;
    }
    let scores = |kind: &String| SCORERS.iter().any(|entry| entry.kind == kind);
    if plugins.kinds.get(name).is_some_and(|kind| !scores(kind)) {
        let name = name.to_owned();
        if let Some(weight) = reference.remove("weight").filter(|weight| !weight.is_null()) {
            let reason = format!("left out: {name} scores nothing, so nothing is weighted");
            findings.push(Finding::warning(format!("{path}.weight"), weight, reason));
        }
    }
    Some(Value::Object(reference))
}
