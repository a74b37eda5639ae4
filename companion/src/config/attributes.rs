//! Attributes that the config defines itself.

use std::{collections::BTreeMap, sync::Arc};

use headroom_datalayer::{AttributeRef, Combine, Value, attribute_info};

use super::{ConfigErrors, error::quoted, raw};
use crate::extract::Custom;

/// Compiles what is read from metrics of the config's own choice.
pub(super) fn compile_custom(path: &str, raw: &[raw::Custom], errors: &mut ConfigErrors) -> Arc<[Custom]> {
    raw.iter()
        .enumerate()
        .filter_map(|(index, custom)| compile_one(&format!("{path}[{index}]"), custom, errors))
        .collect()
}

fn compile_one(path: &str, raw: &raw::Custom, errors: &mut ConfigErrors) -> Option<Custom> {
    let attribute = AttributeRef::resolve(&raw.attribute);
    if raw.attribute.is_empty() {
        errors.push(&format!("{path}.attribute"), quoted(""), "name the attribute");
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    if raw.metric.is_empty() || !raw.metric.chars().all(is_name) {
        let reason = "is no metric's name; labels that its series must have go into match";
        errors.push(&format!("{path}.metric"), quoted(&raw.metric), reason);
    }
    if !raw.scale.is_finite() || raw.scale == 0.0 {
        errors.push(&format!("{path}.scale"), raw.scale, "must be a number other than 0");
    }
    let info = attribute_info(&attribute.key);
    let aggregate = match raw.aggregate.as_deref() {
        Some("sum") => Some(Combine::Sum),
        Some("mean") => Some(Combine::Mean),
        Some("max") => Some(Combine::Max),
        Some("min") => Some(Combine::Min),
        Some("latest") => Some(Combine::Latest),
        Some(other) => {
            errors.push(&format!("{path}.aggregate"), quoted(other), "must be sum, mean, max, min or latest");
            None
        }
        None => {
            let known = info.map(|info| info.combine).filter(|combine| *combine != Combine::Union);
            if known.is_none() {
                let reason = "say how several series become one value: sum, mean, max, min or latest";
                errors.push(&format!("{path}.aggregate"), "", reason);
            }
            known
        }
    };
    if info.is_some_and(|info| info.unit == "names") {
        errors.push(&format!("{path}.attribute"), quoted(&raw.attribute), "is a set of names, and no number");
    }
    Some(Custom {
        possible: attribute.possible(),
        attribute: attribute.key.into(),
        metric: raw.metric.clone(),
        matching: raw.matching.clone(),
        aggregate: aggregate?,
        scale: raw.scale / attribute.scale,
        rate: raw.rate,
    })
}

/// Compiles values that the config knows better than the scrapes.
pub(super) fn compile_fixed(
    path: &str,
    raw: &BTreeMap<String, raw::Fixed>,
    errors: &mut ConfigErrors,
) -> BTreeMap<String, Value> {
    let mut fixed = BTreeMap::new();
    for (name, value) in raw {
        let attribute = AttributeRef::resolve(name);
        let wants_names = attribute_info(&attribute.key).is_some_and(|info| info.unit == "names");
        let value = match value {
            raw::Fixed::Names(names) if wants_names => Some(Value::Names(names.clone())),
            raw::Fixed::Number(number) if !wants_names => {
                let number = number / attribute.scale;
                Value::number(number).filter(|_| attribute.possible().contains(&number))
            }
            _ => None,
        };
        match value {
            Some(value) => {
                fixed.insert(attribute.key, value);
            }
            None => {
                let what =
                    if wants_names { "a list of names" } else { "a number that the attribute can have" };
                errors.push(&format!("{path}.{name}"), "", format!("must be {what}"));
            }
        }
    }
    fixed
}
