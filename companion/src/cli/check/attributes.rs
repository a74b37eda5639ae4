//! Names of attributes that look like misspelt ones. Any name may be a custom attribute, so the compiler
//! takes it, and no value ever arrives.

use headroom_datalayer::{ATTRIBUTES, attribute_aliases};
use serde_json::Value;

use crate::cli::finding::Finding;
use crate::cli::plugin_configs::Located;
use crate::cli::spelling::nearest;
use crate::cli::tree::join;

/// A warning for each attribute name that is nearly a well-known one.
pub(super) fn check(located: &Located) -> Vec<Finding> {
    let mut names = Vec::new();
    collect(&located.value, "", &mut names);
    let warning = |(path, name): (String, String)| {
        let known = ATTRIBUTES.iter().map(|info| info.name).chain(attribute_aliases());
        let meant = nearest(&name, known)?;
        let reason = format!("is no attribute that is known here; was {meant:?} meant?");
        Some(Finding::warning(located.place(&path), format!("{name:?}"), reason))
    };
    names.into_iter().filter_map(warning).collect()
}

/// Every place where an attribute is named: `attribute`, `attributeKey`, the keys of a pool's `maxAge`.
fn collect(node: &Value, path: &str, names: &mut Vec<(String, String)>) {
    match node {
        Value::Array(list) => {
            for (index, node) in list.iter().enumerate() {
                collect(node, &format!("{path}[{index}]"), names);
            }
        }
        Value::Object(map) => {
            for (key, node) in map {
                let path = join(path, key);
                match (key.as_str(), node) {
                    ("attribute" | "attributeKey", Value::String(name)) => names.push((path, name.clone())),
                    ("maxAge", Value::Object(ages)) => {
                        names.extend(ages.keys().map(|name| (join(&path, name), name.clone())));
                    }
                    _ => collect(node, &path, names),
                }
            }
        }
        _ => {}
    }
}
