//! From JSON to a type, with every fault and its path.

use headroom_scheduling::Invalid;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// Past this many faults a config is not read on.
const MAX_FAULTS: usize = 32;

/// Reads `value` as a `T`.
///
/// # Errors
/// All faults, each with its path.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, Vec<Invalid>> {
    match read_what_can_be(value) {
        (Some(read), faults) if faults.is_empty() => Ok(read),
        (_, faults) => Err(faults),
    }
}

/// Reads `value` as a `T` without the parts that do not fit, and tells of each with its path.
///
/// Serde stops at the first fault. So the faulty part is taken out and the rest read again, until it
/// reads or nothing can be taken out any more.
pub fn read_what_can_be<T: DeserializeOwned>(mut value: Value) -> (Option<T>, Vec<Invalid>) {
    let mut faults: Vec<Invalid> = Vec::new();
    while faults.len() < MAX_FAULTS {
        let error = match serde_path_to_error::deserialize::<_, T>(&value) {
            Ok(read) => return (Some(read), faults),
            Err(error) => error,
        };
        let keys = keys(error.path());
        let path = join(&keys);
        let known = faults.iter().any(|fault| fault.path == path);
        let removed = if known { remove_list(&mut value, &keys) } else { remove(&mut value, &keys) };
        if !known {
            let shown = removed.as_ref().map(shown).unwrap_or_default();
            faults.push(Invalid::new(path, shown, error.inner().to_string()));
        }
        if removed.is_none() && remove_list(&mut value, &keys).is_none() {
            break;
        }
    }
    (None, faults)
}

/// Takes out the list that holds the value at `keys`: for entries that cannot be read even when they are
/// emptied.
fn remove_list(value: &mut Value, keys: &[Key]) -> Option<Value> {
    let at = keys.iter().rposition(|key| matches!(key, Key::Index(_)))?;
    remove(value, keys.get(..at)?)
}

#[derive(Debug)]
enum Key {
    Index(usize),
    Name(String),
}

fn keys(path: &Path) -> Vec<Key> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Key::Index(*index)),
            Segment::Map { key } => Some(Key::Name(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

fn join(keys: &[Key]) -> String {
    let mut path = String::new();
    for key in keys {
        match key {
            Key::Index(index) => path.push_str(&format!("[{index}]")),
            Key::Name(name) if path.is_empty() => path.push_str(name),
            Key::Name(name) => {
                path.push('.');
                path.push_str(name);
            }
        }
    }
    path
}

/// Takes the value at `keys` out of an object. An array's entry is emptied instead, so that the
/// others keep their index.
fn remove(value: &mut Value, keys: &[Key]) -> Option<Value> {
    let (last, parents) = keys.split_last()?;
    let mut parent = value;
    for key in parents {
        parent = match key {
            Key::Index(index) => parent.get_mut(*index)?,
            Key::Name(name) => parent.get_mut(name)?,
        };
    }
    match last {
        Key::Name(name) => parent.as_object_mut()?.remove(name),
        Key::Index(index) => {
            let entry = parent.get_mut(*index)?;
            let empty = Value::Object(serde_json::Map::new());
            (*entry != empty).then(|| std::mem::replace(entry, empty))
        }
    }
}

/// The value as it is shown in a message: in full when short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
