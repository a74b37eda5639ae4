//! Text to raw types, collecting every structural error.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::ConfigErrors;

/// More structural errors than anybody reads at once.
const MAX_ERRORS: usize = 100;

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

/// Reads YAML or JSON. A value that does not fit its field is reported and taken out, and reading
/// starts again, so that one run finds them all. `None` when there is nothing left to compile.
fn read<T: DeserializeOwned>(text: &str, errors: &mut ConfigErrors) -> Option<T> {
    let options = serde_saphyr::options! { strict_booleans: true };
    let mut tree: Value = match serde_saphyr::from_str_with_options(text, options) {
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
    let mut last_path = None;
    for _ in 0..MAX_ERRORS {
        let error = match serde_path_to_error::deserialize::<_, T>(&tree) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let path = error.path().clone();
        let stuck = last_path.as_ref() == Some(&path.to_string());
        if !stuck {
            let value = find(&mut tree, path.iter()).map(|value| value.to_string()).unwrap_or_default();
            let place = if path.iter().next().is_some() { path.to_string() } else { "config".to_owned() };
            errors.push(&place, value, error.inner());
        }
        if !take_out(&mut tree, &path, stuck) {
            return None;
        }
        last_path = Some(path.to_string());
    }
    None
}

fn find<'a, 'p>(tree: &'a mut Value, path: impl IntoIterator<Item = &'p Segment>) -> Option<&'a mut Value> {
    path.into_iter().try_fold(tree, |node, segment| match segment {
        Segment::Map { key } => node.get_mut(key),
        Segment::Seq { index } => node.get_mut(index),
        Segment::Enum { .. } | Segment::Unknown => None,
    })
}

/// Takes the value at `path` out of the tree. An element of a list is emptied, so that its neighbours
/// keep their numbers; if that did not help (`whole_list`), its list is taken out.
fn take_out(tree: &mut Value, path: &Path, whole_list: bool) -> bool {
    let segments: Vec<&Segment> = path.iter().collect();
    if let (false, Some(Segment::Seq { .. })) = (whole_list, segments.last()) {
        let Some(element) = find(tree, segments) else { return false };
        *element = Value::Object(serde_json::Map::new());
        return true;
    }
    let Some(at) = segments.iter().rposition(|segment| matches!(segment, Segment::Map { .. })) else {
        return false;
    };
    let (above, below) = segments.split_at(at);
    match (find(tree, above.iter().copied()), below.first()) {
        (Some(Value::Object(map)), Some(Segment::Map { key })) => map.remove(key).is_some(),
        _ => false,
    }
}
