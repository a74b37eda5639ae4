//! From JSON Schema to tables that people read.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Stands at the top of every generated page.
pub(crate) const GENERATED: &str =
    "<!-- Generated from the types and tables by `cargo run -p headroom-reference`; do not edit. -->\n";

/// A section for an object schema: its description, and a table of its fields.
pub(crate) fn object(title: &str, schema: &Value) -> String {
    let mut text = format!("{title}\n\n");
    if let Some(description) = schema.get("description").and_then(Value::as_str) {
        let _infallible = writeln!(text, "{}\n", prose(description));
    }
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    if properties.is_empty() {
        return text;
    }
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    text.push_str("| field | type | meaning |\n| --- | --- | --- |\n");
    for (name, field) in properties {
        let needed = if required.contains(&name.as_str()) { " **Required.**" } else { "" };
        let description = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let kind = kind(field).replace('|', "\\|");
        let _infallible =
            writeln!(text, "| `{name}` | {kind} | {}{needed} |", prose(description).replace('|', "\\|"));
    }
    text.push('\n');
    text
}

/// A section for a set of words: a line each.
pub(crate) fn words(title: &str, schema: &Value) -> String {
    let mut text = format!("{title}\n\n");
    if let Some(description) = schema.get("description").and_then(Value::as_str) {
        let _infallible = writeln!(text, "{}\n", prose(description));
    }
    for variant in schema.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
        let description = variant.get("description").and_then(Value::as_str).unwrap_or_default();
        match variant.get("const").and_then(Value::as_str) {
            Some(word) => {
                let _infallible = writeln!(text, "* `{word}`: {}", prose(description));
            }
            None => {
                let names = variant.get("properties").and_then(Value::as_object).into_iter().flatten();
                let names: Vec<String> =
                    names.map(|(name, field)| format!("`{name}`: {}", kind(field))).collect();
                let _infallible = writeln!(text, "* {{{}}} {}", names.join(", "), prose(description));
            }
        }
    }
    text.push('\n');
    text
}

/// Doc comments wrap; pages do not.
fn prose(description: &str) -> String {
    description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("<br>")
}

/// The type in words, with a link to the section of a named one.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for any in ["anyOf", "allOf"] {
        if let Some(options) = schema.get(any).and_then(Value::as_array) {
            let options: Vec<String> = options
                .iter()
                .filter(|option| option.get("type") != Some(&Value::from("null")))
                .map(kind)
                .collect();
            return options.join(" or ");
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" => {
            format!("list of {}", schema.get("items").map_or_else(|| "any".to_owned(), kind))
        }
        Some(Value::String(name)) if name == "object" => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("map to {}", kind(values)),
            _ => "object".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) if names.first() == Some(&Value::from("array")) => {
            format!("list of {}", schema.get("items").map_or_else(|| "any".to_owned(), kind))
        }
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}
