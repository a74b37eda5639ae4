//! Names of attributes that look like misspelt ones. Any name may be a custom attribute, so the compiler
//! takes it, and no value ever arrives.

use headroom_datalayer::ATTRIBUTES;
use serde_json::Value;

use crate::cli::finding::Finding;
use crate::cli::plugin_configs::Located;
use crate::cli::tree::join;

/// The other spellings that configs may use for well-known attributes.
const ALIASES: [&str; 4] = [
    "custom.gpu_utilization_percent",
    "custom.kv_cache_usage_percent",
    "custom.queue_depth",
    "custom.running_requests",
];

/// A warning for each attribute name that is nearly a well-known one.
pub(super) fn check(located: &Located) -> Vec<Finding> {
    let mut names = Vec::new();
    collect(&located.value, "", &mut names);
    let warning = |(path, name): (String, String)| {
        let meant = nearest(&name)?;
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

/// The well-known name that `name` nearly is; `None` when it is one, or far from all.
fn nearest(name: &str) -> Option<&'static str> {
    let known = || ATTRIBUTES.iter().map(|info| info.name).chain(ALIASES);
    if known().any(|known| known == name) {
        return None;
    }
    let distances = known().map(|known| (distance(&known.to_lowercase(), &name.to_lowercase()), known));
    distances.filter(|(distance, _)| *distance <= 2).min().map(|(_, known)| known)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, left) in a.chars().enumerate() {
        let mut next = vec![at + 1];
        for (right, pair) in b.iter().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            let before = next.last().copied().unwrap_or_default();
            next.push((diagonal + usize::from(left != *right)).min(above + 1).min(before + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use headroom_datalayer::AttributeRef;

    use super::*;

    #[test]
    fn near_misses_are_recognised_and_others_left_alone() {
        for (name, meant) in [
            ("GPUUtilisation", Some("GPUUtilization")),
            ("waitingqueuesize", Some("WaitingQueueSize")),
            ("WaitingQueueSize", None),
            ("custom.queue_dept", Some("custom.queue_depth")),
            ("custom.my_metric", None),
            ("Temperature", None),
        ] {
            assert_eq!(nearest(name), meant, "{name}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn the_aliases_are_those_of_the_data_layer() {
        for alias in ALIASES {
            assert_ne!(AttributeRef::resolve(alias).key, alias);
        }
    }
}
