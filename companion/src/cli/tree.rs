//! A JSON or YAML value, and the keys that it gives twice.
//!
//! Readers of JSON keep the last of two equal keys and say nothing; which one was meant nobody knows.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    /// The value, with the last of equal keys.
    pub(crate) value: Value,
    /// The paths of the keys that are given more than once.
    pub(crate) duplicates: Vec<String>,
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        Self { value, duplicates: Vec::new() }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON or YAML value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Value::Null.into())
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Value::Null.into())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Value::Bool(value).into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Value::from(value).into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Value::from(value).into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number that is not finite"))?;
        Ok(Value::Number(number).into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Value::from(value).into())
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Value::String(value).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let (mut list, mut duplicates) = (Vec::new(), Vec::new());
        while let Some(tree) = seq.next_element::<Tree>()? {
            let place = format!("[{}]", list.len());
            duplicates.extend(tree.duplicates.iter().map(|below| join(&place, below)));
            list.push(tree.value);
        }
        Ok(Tree { value: Value::Array(list), duplicates })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let (mut object, mut duplicates) = (Map::new(), Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            let tree = map.next_value::<Tree>()?;
            duplicates.extend(tree.duplicates.iter().map(|below| join(&key, below)));
            if object.insert(key.clone(), tree.value).is_some() {
                duplicates.push(key);
            }
        }
        Ok(Tree { value: Value::Object(object), duplicates })
    }
}

/// A path and one below it.
pub(crate) fn join(above: &str, below: &str) -> String {
    let dot = if above.is_empty() || below.is_empty() || below.starts_with('[') { "" } else { "." };
    format!("{above}{dot}{below}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_is_given_twice_is_named_by_its_path() {
        let json = r#"{"a": 1, "b": [{"c": {"d": 1, "d": 2.5}}], "a": null}"#;
        let tree: Tree = serde_json::from_str(json).expect("JSON");
        assert_eq!(tree.duplicates, ["b[0].c.d", "a"]);
        assert_eq!(tree.value, serde_json::json!({"a": null, "b": [{"c": {"d": 2.5}}]}));
    }
}
