//! Envoy's access log as `envoy/envoy.yaml` writes it.

use std::path::Path;

use serde_json::Value;

/// The entries that are complete, oldest first.
///
/// # Errors
/// When the file can't be read.
pub fn entries(path: &Path) -> anyhow::Result<Vec<Value>> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The decision of an entry: JSON that stands in it as a string.
pub fn decision(entry: &Value) -> Option<Value> {
    serde_json::from_str(entry.get("decision")?.as_str()?).ok()
}
