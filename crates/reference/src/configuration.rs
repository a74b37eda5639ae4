//! docs/configuration.md.

use headroom_filter::config::raw::PluginConfig;
use headroom_filter::registry::{DECIDERS, Entry, FILTERS, HANDLERS, PICKERS, SCORERS};
use schemars::SchemaGenerator;
use serde_json::Value;

use crate::{markdown, plugin_schema};

/// The config files of the companion's commands.
pub(crate) fn files() -> String {
    let mut page = format!(
        "# Config files of `headroom`\n\n{}\n\
         YAML or JSON. Unknown fields are errors; all errors of a file are reported at once as `path: value: reason`. \
         The plugin in Envoy has a page of its own: [configuration.md](configuration.md).\n\n",
        markdown::GENERATED
    );
    for (title, schema) in [
        ("`headroom serve`", headroom_companion::serve_config_schema()),
        ("`headroom fake-pool`", headroom_companion::fake_pool_config_schema()),
    ] {
        page.push_str(&file(title, &schema));
    }
    page.trim_end().to_owned() + "\n"
}

/// The sections of a file's schema: the file itself, then the types of its fields.
pub(crate) fn file(title: &str, schema: &Value) -> String {
    let mut text = markdown::object(&format!("## {title}"), schema);
    for (name, schema) in schema.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        text.push_str(&section(&format!("### {name}"), schema));
    }
    text
}

pub(crate) fn page() -> String {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut page = format!(
        "# Configuration\n\n{}\n\
         * [The plugin in Envoy](#the-plugin-in-envoy) (JSON; schema: [plugin-config.schema.json](plugin-config.schema.json))\n\
         * [Plugins](#plugins): filters, scorers, pickers, profile handlers and deciders\n\n\
         Unknown fields are errors. A config with errors is refused as a whole, every error is logged as \
         `path: value: reason`, and the config in force stays. Durations are text: `200ms`, `5s`, `2m`.\n\n\
         ## The plugin in Envoy\n\n",
        markdown::GENERATED
    );
    let root = generator.root_schema_for::<PluginConfig>().to_value();
    page.push_str(&markdown::object("### PluginConfig", &root));
    let definitions = root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, schema) in &definitions {
        page.push_str(&section(&format!("### {name}"), schema));
    }
    page.push_str("## Plugins\n\nAn entry has a `type`, a `name` (default: the type), for scorers a `weight` (default 1), and its parameters beside these or in `parameters`.\n\n");
    page.push_str(&plugins("filter", FILTERS, &mut generator));
    page.push_str(&plugins("scorer", SCORERS, &mut generator));
    page.push_str(&plugins("picker", PICKERS, &mut generator));
    page.push_str(&plugins("profile handler", HANDLERS, &mut generator));
    page.push_str(&plugins("decider", DECIDERS, &mut generator));
    page.push_str("### Types of parameters\n\n");
    for (name, schema) in generator.definitions() {
        if !definitions.contains_key(name) && !name.starts_with("Params") {
            page.push_str(&section(&format!("#### {name}"), schema));
        }
    }
    page.trim_end().to_owned() + "\n"
}

fn plugins<T: ?Sized>(role: &str, entries: &[Entry<T>], generator: &mut SchemaGenerator) -> String {
    entries
        .iter()
        .map(|entry| {
            let mut parameters = plugin_schema::parameters(entry, generator);
            if let Some(parameters) = parameters.as_object_mut() {
                parameters.insert("description".to_owned(), entry.summary.into());
            }
            markdown::object(&format!("### {} ({role})", entry.kind), &parameters)
        })
        .collect()
}

fn section(title: &str, schema: &Value) -> String {
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> =
            options.iter().map(|word| format!("`{}`", word.as_str().unwrap_or_default())).collect();
        return format!("{title}\n\nOne of {}.\n\n", words.join(", "));
    }
    if schema.get("oneOf").is_some() {
        markdown::words(title, schema)
    } else {
        markdown::object(title, schema)
    }
}
