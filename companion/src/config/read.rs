//! Text to raw types, collecting every structural error.

use headroom_filter::config::read_what_can_be;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ConfigErrors;

/// Reads and compiles the config file at `path`.
///
/// # Errors
/// When the file cannot be read or is not valid, with everything that is wrong.
pub(crate) fn load<R: DeserializeOwned, C>(
    path: &std::path::Path,
    compile: impl FnOnce(R, ConfigErrors) -> Result<C, ConfigErrors>,
) -> Result<C, ConfigErrors> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        ConfigErrors::single(path.display().to_string(), "", format!("cannot be read: {error}"))
    })?;
    parse(&text, compile)
}

/// Reads and compiles a config, YAML or JSON.
///
/// # Errors
/// When it is not valid, with everything that is wrong.
pub(crate) fn parse<R: DeserializeOwned, C>(
    text: &str,
    compile: impl FnOnce(R, ConfigErrors) -> Result<C, ConfigErrors>,
) -> Result<C, ConfigErrors> {
    let mut errors = ConfigErrors::default();
    match tree(text, &mut errors).and_then(|tree| read_tree("", tree, &mut errors)) {
        Some(raw) => compile(raw, errors),
        None => Err(errors),
    }
}

/// Reads YAML or JSON that must be a mapping; an empty text is an empty one.
///
/// # Errors
/// When it is neither.
pub(crate) fn parse_tree(text: &str) -> Result<Value, ConfigErrors> {
    let mut errors = ConfigErrors::default();
    tree(text, &mut errors).ok_or(errors)
}

fn tree(text: &str, errors: &mut ConfigErrors) -> Option<Value> {
    let options = serde_saphyr::options! { strict_booleans: true };
    match serde_saphyr::from_str_with_options(text, options) {
        Ok(Value::Null) => Some(Value::Object(serde_json::Map::new())),
        Ok(tree @ Value::Object(_)) => Some(tree),
        Ok(other) => {
            errors.push("config", other, "must be a mapping of keys to values");
            None
        }
        Err(error) => {
            errors.push("config", "", format!("is neither YAML nor JSON: {error}"));
            None
        }
    }
}

/// Reads what stands at `path`, as far as it fits. `None` when there is nothing left to compile.
pub(super) fn read_tree<T: DeserializeOwned>(
    path: &str,
    tree: Value,
    errors: &mut ConfigErrors,
) -> Option<T> {
    let (raw, faults) = read_what_can_be(tree);
    for fault in faults {
        let path = match (path, fault.path.as_str()) {
            ("", "") => "config".to_owned(),
            (path, "") => path.to_owned(),
            ("", inner) => inner.to_owned(),
            (path, inner) => format!("{path}.{inner}"),
        };
        errors.push(&path, &fault.value, &fault.reason);
    }
    raw
}
