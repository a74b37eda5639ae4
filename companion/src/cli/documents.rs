//! Text to documents: JSON, or YAML of one or more documents.

use super::finding::Finding;
use super::tree::Tree;

/// Reads all documents of a file; empty ones are left out.
///
/// # Errors
/// When it is neither JSON nor YAML.
pub(crate) fn read(text: &str) -> Result<Vec<Tree>, Finding> {
    let json = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Tree>(text));
    if let Some(Ok(tree)) = json {
        return Ok(vec![tree]);
    }
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::PassThrough,
    };
    let documents: Vec<Tree> = serde_saphyr::from_multiple_with_options(text, options).map_err(|yaml| {
        let reason = match json {
            Some(Err(json)) => format!("is not JSON: {json}"),
            _ => format!("is neither YAML nor JSON: {yaml}"),
        };
        Finding::error("", "", reason)
    })?;
    Ok(documents.into_iter().filter(|tree| !tree.value.is_null()).collect())
}

/// An error for each key that is given twice, seen from `prefix`.
pub(crate) fn duplicates<'a>(tree: &'a Tree, prefix: &'a str) -> impl Iterator<Item = Finding> + 'a {
    tree.duplicates.iter().map(move |path| {
        let key = path.rsplit(['.', ']']).next().unwrap_or(path);
        let reason = "this key is given twice; which one counts is not defined, so keep one";
        Finding::error(format!("{prefix}{path}"), format!("{key:?}"), reason)
    })
}
