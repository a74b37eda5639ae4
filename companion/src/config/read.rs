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
    match read(text, &mut errors) {
        Some(raw) => compile(raw, errors),
        None => Err(errors),
    }
}

/// Reads YAML or JSON, as far as it fits. `None` when there is nothing left to compile.
fn read<T: DeserializeOwned>(text: &str, errors: &mut ConfigErrors) -> Option<T> {
    let options = serde_saphyr::options! { strict_booleans: true };
    let tree: Value = match serde_saphyr::from_str_with_options(text, options) {
        Ok(Value::Null) => Value::Object(serde_json::Map::new()),
        Ok(tree @ Value::Object(_)) => tree,
        Ok(other) => {
            errors.push("config", other, "must be a mapping of keys to values");
            return None;
        }
        Err(error) => {
            errors.push("config", "", format!("is neither YAML nor JSON: {error}"));
            return None;
        }
    };
    let (raw, faults) = read_what_can_be(tree);
    for fault in faults {
        let path = if fault.path.is_empty() { "config" } else { &fault.path };
        errors.push(path, &fault.value, &fault.reason);
    }
    raw
}
