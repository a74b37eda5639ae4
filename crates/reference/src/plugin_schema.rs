//! docs/plugin-config.schema.json: for editors, with every plugin's parameters.

use headroom_filter::config::raw::PluginConfig;
use headroom_filter::registry::{Entry, FILTERS, PICKERS, SCORERS};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

/// The schema of the plugin config, plugins' entries included.
pub(crate) fn schema() -> Value {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let entries = [
        ("filters", entry_schemas(FILTERS, &mut generator, false)),
        ("scorers", entry_schemas(SCORERS, &mut generator, true)),
        ("picker", entry_schemas(PICKERS, &mut generator, false)),
    ];
    let mut root = generator.into_root_schema_for::<PluginConfig>().to_value();
    for (field, schemas) in entries {
        let choice = json!({"oneOf": schemas});
        let place = if field == "picker" {
            root.pointer_mut("/$defs/Pool/properties/picker")
        } else {
            root.pointer_mut(&format!("/$defs/Pool/properties/{field}/items"))
        };
        if let Some(place) = place {
            *place = choice;
        }
    }
    root
}

pub(crate) fn text() -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&schema())? + "\n")
}

/// The parameters of each plugin of one kind, resolved.
pub(crate) fn parameters<T: ?Sized>(entry: &Entry<T>, generator: &mut SchemaGenerator) -> Value {
    let schema = (entry.schema)(generator).to_value();
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name)).cloned().unwrap_or(schema)
}

/// One schema a plugin: its parameters beside `type`, `name` and, for scorers, `weight`; or in `parameters`.
fn entry_schemas<T: ?Sized>(
    entries: &[Entry<T>],
    generator: &mut SchemaGenerator,
    weighted: bool,
) -> Vec<Value> {
    let mut schemas = Vec::new();
    for entry in entries {
        let parameters = parameters(entry, generator);
        let part = |key: &str| parameters.get(key).cloned();
        let mut common = Map::new();
        common.insert("type".to_owned(), json!({"const": entry.kind}));
        common.insert("name".to_owned(), json!({"type": "string", "description": "Default: the type."}));
        if weighted {
            common.insert("weight".to_owned(), json!({"type": "number", "minimum": 0, "default": 1}));
        }
        let mut beside =
            part("properties").and_then(|properties| properties.as_object().cloned()).unwrap_or_default();
        let mut required = part("required").and_then(|names| names.as_array().cloned()).unwrap_or_default();
        // A scorer that names an attribute needs no type.
        if !beside.contains_key("attributeKey") {
            required.push(json!("type"));
        }
        beside.extend(common.clone());
        common.insert("parameters".to_owned(), parameters.clone());
        let object = |properties: Map<String, Value>, required: Value| {
            json!({
                "type": "object", "description": entry.summary, "additionalProperties": false,
                "properties": properties, "required": required,
            })
        };
        schemas.push(json!({"anyOf": [object(beside, required.into()), object(common, json!(["type"]))]}));
    }
    schemas
}
