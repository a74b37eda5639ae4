//! JSON to a type, with the place of what does not fit.

use serde::de::DeserializeOwned;

use crate::cli::documents;
use crate::cli::finding::Finding;

/// Reads JSON (or YAML) as a `T`.
///
/// # Errors
/// Keys that are given twice, or everything that does not fit.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Vec<Finding>> {
    let documents = documents::read(text).map_err(|error| vec![error])?;
    let [tree] = documents.as_slice() else {
        let reason = format!("must be one document, and is {}", documents.len());
        return Err(vec![Finding::error("", "", reason)]);
    };
    let duplicates: Vec<Finding> = documents::duplicates(tree, "").collect();
    if !duplicates.is_empty() {
        return Err(duplicates);
    }
    headroom_filter::config::read(tree.value.clone())
        .map_err(|faults| faults.into_iter().map(Finding::from).collect())
}
