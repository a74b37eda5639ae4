//! A whole `EndpointPickerConfig`.

use serde_json::{Map, Value, json};

use super::{Names, Origins, plugins, profiles};
use crate::cli::finding::Finding;

/// A converted config. It has yet to be compiled.
#[derive(Debug)]
pub(crate) struct Converted {
    /// The plugin's config.
    pub(crate) value: Value,
    /// From its paths to those of the source.
    pub(crate) origins: Origins,
    /// What is wrong, what was left out and why.
    pub(crate) findings: Vec<Finding>,
}

const LATEST: &str = "llm-d.ai/v1alpha1";
const BEFORE: &str = "inference.networking.x-k8s.io/v1alpha1";

/// Converts an `EndpointPickerConfig`.
pub(crate) fn convert(document: &Value, names: &Names) -> Converted {
    let mut findings = Vec::new();
    let empty = Map::new();
    for (key, value) in document.as_object().unwrap_or(&empty) {
        top_level(key, value, &mut findings);
    }
    let version = document.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if version != LATEST && version != BEFORE {
        let reason = format!("must be {LATEST} or, as before, {BEFORE}");
        findings.push(Finding::error("apiVersion", format!("{version:?}"), reason));
    }
    let mut plugins = plugins::carry_over(list(document, "plugins", &mut findings), &mut findings);
    let (mut profiles, references) =
        profiles::carry_over(list(document, "schedulingProfiles", &mut findings), &plugins, &mut findings);
    if plugins.kept.is_empty() && profiles.is_empty() {
        let defaults = [("queue-scorer", 2), ("kv-cache-utilization-scorer", 2), ("prefix-cache-scorer", 3)];
        plugins.kept = defaults.iter().map(|(kind, _)| json!({"type": kind})).collect();
        let used = defaults.map(|(kind, weight)| json!({"pluginRef": kind, "weight": weight}));
        profiles.push(json!({"name": "default", "plugins": used}));
        let reason = "no plugin decides, so llm-d's defaults are written out";
        findings.push(Finding::warning("plugins", "", reason));
    }
    let mut pool = Map::new();
    pool.insert("name".to_owned(), json!(names.pool));
    pool.insert("plugins".to_owned(), Value::Array(plugins.kept));
    if !profiles.is_empty() {
        pool.insert("schedulingProfiles".to_owned(), Value::Array(profiles));
    }
    Converted {
        value: json!({"feed": {"cluster": names.feed_cluster}, "pools": [pool]}),
        origins: Origins { plugins: plugins.origins, references },
        findings,
    }
}

fn list<'a>(document: &'a Value, key: &str, findings: &mut Vec<Finding>) -> &'a [Value] {
    match document.get(key) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(list)) => list,
        Some(other) => {
            findings.push(Finding::error(key, other, "must be a list"));
            &[]
        }
    }
}

/// Says what is not carried over of the config's own keys.
fn top_level(key: &str, value: &Value, findings: &mut Vec<Finding>) {
    let reason = match key {
        "apiVersion" | "kind" | "plugins" | "schedulingProfiles" => return,
        "featureGates" => {
            for (index, gate) in value.as_array().into_iter().flatten().enumerate() {
                let reason = "left out: feature gates switch parts of llm-d that are not here";
                findings.push(Finding::warning(format!("featureGates[{index}]"), gate, reason));
            }
            return;
        }
        "dataLayer" => "left out: the companion scrapes and extracts, as its own config says",
        "flowControl" => "left out: there is no queue in front of the pool; Envoy limits what is in flight",
        "saturationDetector" => "left out: say who is overloaded with a utilization-filter",
        "parser" | "requestHandler" => "left out: the filter reads OpenAI-style bodies itself",
        _ => {
            findings.push(Finding::error(key, "", "llm-d's EndpointPickerConfig has no such field"));
            return;
        }
    };
    if !value.is_null() {
        findings.push(Finding::warning(key, "", reason));
    }
}
