//! docs/plugin-config.schema.json: for editors, with every plugin's parameters.

use headroom_filter::config::raw::PluginConfig;
use headroom_filter::registry::{DECIDERS, Entry, FILTERS, HANDLERS, PICKERS, SCORERS};
use headroom_scheduling::{Plugin, scorers::EndpointAttributeScorer};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

/// The schema of the plugin config, plugins' entries included.
pub(crate) fn schema() -> Value {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let filters = entry_schemas(FILTERS, &mut generator, Weight::None);
    let scorers = entry_schemas(SCORERS, &mut generator, Weight::Given);
    let pickers = entry_schemas(PICKERS, &mut generator, Weight::None);
    let handlers = entry_schemas(HANDLERS, &mut generator, Weight::None);
    let deciders = entry_schemas(DECIDERS, &mut generator, Weight::None);
    let mut root = generator.into_root_schema_for::<PluginConfig>().to_value();
    let mut define = |role: &str, schemas: Vec<(&'static str, Value)>| {
        let mut references = Vec::new();
        for (kind, schema) in schemas {
            let name = format!("{role}.{kind}");
            references.push((kind, json!({"$ref": format!("#/$defs/{name}")})));
            if let Some(definitions) = root.pointer_mut("/$defs").and_then(Value::as_object_mut) {
                definitions.insert(name, schema);
            }
        }
        references
    };
    let (filters, scorers, pickers) =
        (define("filter", filters), define("scorer", scorers), define("picker", pickers));
    let (handlers, deciders) = (define("handler", handlers), define("decider", deciders));
    let mut plugins = scorers.clone();
    for (kind, reference) in [filters.clone(), pickers.clone(), handlers, deciders].into_iter().flatten() {
        // One that is a scorer, too, is there already.
        if !plugins.iter().any(|(other, _)| *other == kind) {
            plugins.push((kind, reference));
        }
    }
    for (place, entries) in [
        ("filters/items", filters),
        ("scorers/items", scorers),
        ("picker", pickers),
        ("plugins/items", plugins),
    ] {
        let references: Vec<Value> = entries.into_iter().map(|(_, reference)| reference).collect();
        if let Some(place) = root.pointer_mut(&format!("/$defs/Pool/properties/{place}")) {
            *place = json!({"oneOf": references});
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

/// Whether entries have a weight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Given,
    None,
}

/// One schema a plugin, with its type: its parameters beside `type`, `name` and, for scorers, `weight`; or in
/// `parameters`.
fn entry_schemas<T: ?Sized>(
    entries: &[Entry<T>],
    generator: &mut SchemaGenerator,
    weight: Weight,
) -> Vec<(&'static str, Value)> {
    let mut schemas = Vec::new();
    for entry in entries {
        let parameters = parameters(entry, generator);
        let part = |key: &str| parameters.get(key).cloned();
        let mut common = Map::new();
        common.insert("type".to_owned(), json!({"const": entry.kind}));
        common.insert("name".to_owned(), json!({"type": "string", "description": "Default: the type."}));
        if weight == Weight::Given {
            common.insert("weight".to_owned(), json!({"type": "number", "minimum": 0, "default": 1}));
        }
        let mut beside =
            part("properties").and_then(|properties| properties.as_object().cloned()).unwrap_or_default();
        let mut required = part("required").and_then(|names| names.as_array().cloned()).unwrap_or_default();
        // A scorer that names an attribute needs no type.
        if weight == Weight::None || entry.kind != EndpointAttributeScorer::TYPE {
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
        let schema = json!({"anyOf": [object(beside, required.into()), object(common, json!(["type"]))]});
        schemas.push((entry.kind, schema));
    }
    schemas
}
