//! Where in a file the plugin's config stands: on its own, as llm-d writes it, or inside Envoy's or
//! Istio's config.

use serde_json::{Value, json};

use super::documents;
use super::finding::Finding;
use super::import::{self, Names, Origins};
use super::parts::Part;
use super::tree::{Tree, join};

/// A plugin config that was found.
#[derive(Debug)]
pub(crate) struct Located {
    /// What it is, for people.
    pub(crate) what: &'static str,
    /// Where it stands in the file; empty when it is the file.
    path: String,
    /// How the paths of the source lead to those of the config, where it was converted.
    origins: Option<Origins>,
    /// The config.
    pub(crate) value: Value,
}

impl Located {
    /// Whether the file itself says what its pools are called.
    pub(crate) fn names_its_pools(&self) -> bool {
        self.origins.is_none()
    }

    /// The place in the file of a path in the config.
    pub(crate) fn place(&self, path: &str) -> String {
        let path = self.origins.as_ref().map_or_else(|| path.to_owned(), |origins| origins.place(path));
        place(&self.path, &path)
    }
}

/// A path in a config that stands at `at` of its file.
fn place(at: &str, path: &str) -> String {
    match (at.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (_, true) => at.to_owned(),
        _ => format!("{at}: {path}"),
    }
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// llm-d's `EndpointPickerConfig`.
    EndpointPicker,
    /// The companion's config.
    Companion,
    /// The plugin's config.
    Plugin,
    /// The short form of one pool, by itself.
    ShortForm,
    /// Istio's `WasmPlugin`.
    WasmPlugin,
    /// Something that may contain the plugin's config.
    Other,
}

/// Tells what a document is by what only that kind has.
pub(crate) fn classify(document: &Value) -> Kind {
    match document.get("kind").and_then(Value::as_str) {
        Some("EndpointPickerConfig") => return Kind::EndpointPicker,
        Some("WasmPlugin") => return Kind::WasmPlugin,
        _ => {}
    }
    let has = |key: &str| document.get(key).is_some();
    let pools = document.get("pools").and_then(Value::as_array);
    let has_endpoints = pools.into_iter().flatten().any(|pool| pool.get("endpoints").is_some());
    let listens = document.get("feed").is_some_and(|feed| feed.get("listen").is_some());
    match () {
        () if has("static_resources") || has("dynamic_resources") => Kind::Other,
        () if has("scrape") || has("admin") || has_endpoints || listens => Kind::Companion,
        () if has("pools") || has("feed") => Kind::Plugin,
        () if has("plugins") || has("schedulingProfiles") => Kind::EndpointPicker,
        () if has("filters") || has("scorers") => Kind::ShortForm,
        () => Kind::Other,
    }
}

/// All plugin configs of a part of a file. What llm-d's configs do not name is taken from `names`.
pub(crate) fn find(part: &Part, names: &Names, findings: &mut Vec<Finding>) -> Vec<Located> {
    let (document, at) = (&part.tree.value, part.at.as_str());
    let mut found = Vec::new();
    match classify(document) {
        Kind::Companion => {}
        Kind::Plugin => found.push(Located {
            what: "plugin config",
            path: at.to_owned(),
            origins: None,
            value: document.clone(),
        }),
        Kind::ShortForm => {
            let mut pool = document.clone();
            if let Some(pool) = pool.as_object_mut() {
                pool.entry("name").or_insert_with(|| json!(names.pool));
            }
            found.push(Located {
                what: "pool in the short form",
                path: at.to_owned(),
                origins: Some(Origins::default()),
                value: json!({"feed": {"cluster": names.feed_cluster}, "pools": [pool]}),
            });
        }
        Kind::EndpointPicker => {
            let converted = import::convert(document, names);
            let placed = |finding: Finding| Finding { path: place(at, &finding.path), ..finding };
            findings.extend(converted.findings.into_iter().map(placed));
            found.push(Located {
                what: "EndpointPickerConfig",
                path: at.to_owned(),
                origins: Some(converted.origins),
                value: converted.value,
            });
        }
        Kind::WasmPlugin => {
            let path = join(at, "spec.pluginConfig");
            match document.pointer("/spec/pluginConfig") {
                Some(value) if value.is_object() => {
                    let value = value.clone();
                    found.push(Located { what: "WasmPlugin", path, origins: None, value });
                }
                _ => findings.push(Finding::error(path, "", "has no plugin config")),
            }
        }
        Kind::Other => search(document, at, &mut found, findings),
    }
    found
}

/// Looks for Envoy's Wasm plugins (`configuration` beside `vm_config` or a root id) that are ours.
fn search(node: &Value, path: &str, found: &mut Vec<Located>, findings: &mut Vec<Finding>) {
    match node {
        Value::Array(list) => {
            for (index, node) in list.iter().enumerate() {
                search(node, &format!("{path}[{index}]"), found, findings);
            }
        }
        Value::Object(map) => {
            let is_wasm =
                ["vm_config", "vmConfig", "root_id", "rootId"].iter().any(|key| map.contains_key(*key));
            let configuration = map.get("configuration").and_then(|any| any.get("value"));
            if let (true, Some(value)) = (is_wasm, configuration) {
                let path = join(path, "configuration.value");
                let named = ["name", "root_id", "rootId"].iter().filter_map(|key| map.get(*key)?.as_str());
                let is_named_ours = named.into_iter().any(|name| name.contains("headroom"));
                take(value, is_named_ours, path, found, findings);
                return;
            }
            for (key, node) in map {
                search(node, &join(path, key), found, findings);
            }
        }
        _ => {}
    }
}

/// Takes a Wasm plugin's configuration, if it is ours. As text it must be JSON: the filter reads no YAML.
fn take(
    value: &Value,
    named_ours: bool,
    path: String,
    found: &mut Vec<Located>,
    findings: &mut Vec<Finding>,
) {
    let what = "Envoy config";
    match value {
        Value::String(text) if named_ours || text.contains("\"pools\"") => {
            match serde_json::from_str::<Tree>(text) {
                Ok(tree) => {
                    findings.extend(documents::duplicates(&tree, &format!("{path}: ")));
                    found.push(Located { what, path, origins: None, value: tree.value });
                }
                Err(error) => {
                    findings.push(Finding::error(path, "", format!("is not JSON: {error}")));
                }
            }
        }
        Value::Object(map) if named_ours || map.contains_key("pools") => {
            found.push(Located { what, path, origins: None, value: value.clone() });
        }
        _ => {}
    }
}
