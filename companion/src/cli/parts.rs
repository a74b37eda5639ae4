//! The documents of a file, those inside Kubernetes ConfigMaps too.

use serde_json::Value;

use super::documents;
use super::finding::Finding;
use super::plugin_configs::{Kind, classify};
use super::tree::{Tree, join};

/// A document and where it stands in its file.
#[derive(Debug)]
pub(crate) struct Part {
    /// Empty for the whole file.
    pub(crate) at: String,
    /// The document.
    pub(crate) tree: Tree,
}

impl Part {
    /// What paths in the document start with.
    pub(crate) fn prefix(&self) -> String {
        if self.at.is_empty() { String::new() } else { format!("{}: ", self.at) }
    }
}

/// The documents of `text`; a ConfigMap is replaced by those of its values that hold a config.
///
/// # Errors
/// When it is neither JSON nor YAML.
pub(crate) fn read(text: &str, findings: &mut Vec<Finding>) -> Result<Vec<Part>, Finding> {
    let documents = documents::read(text)?;
    let several = documents.len() > 1;
    let mut parts = Vec::new();
    for (index, tree) in documents.into_iter().enumerate() {
        let at = if several { format!("document {}", index + 1) } else { String::new() };
        if tree.value.get("kind").is_some_and(|kind| kind == "ConfigMap") {
            config_map(&tree.value, &at, &mut parts, findings);
        } else {
            parts.push(Part { at, tree });
        }
    }
    Ok(parts)
}

fn config_map(document: &Value, at: &str, parts: &mut Vec<Part>, findings: &mut Vec<Finding>) {
    for (key, value) in document.get("data").and_then(Value::as_object).into_iter().flatten() {
        let at = format!("{at}{}{}", if at.is_empty() { "" } else { ": " }, join("data", key));
        let Some(text) = value.as_str() else { continue };
        match documents::read(text) {
            Ok(documents) => {
                let holds =
                    |tree: &Tree| classify(&tree.value) != Kind::Other || looks_like_envoy(&tree.value);
                let holding = documents.into_iter().filter(holds);
                parts.extend(holding.map(|tree| Part { at: at.clone(), tree }));
            }
            // Most values of most ConfigMaps are none of ours.
            Err(fault) if ["EndpointPickerConfig", "headroom"].iter().any(|word| text.contains(word)) => {
                findings.push(Finding { path: at, ..fault });
            }
            Err(_) => {}
        }
    }
}

fn looks_like_envoy(document: &Value) -> bool {
    ["static_resources", "dynamic_resources", "resources"].iter().any(|key| document.get(*key).is_some())
}
