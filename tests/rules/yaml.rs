//! The configs that ship work.

use headroom_filter::config::Config;
use headroom_testbed::binaries::repository;
use headroom_testbed::envoy_config::yaml;
use serde_json::Value;

/// Every string in a YAML that is a plugin config.
fn plugin_configs(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(text) =
                map.get("value").and_then(Value::as_str).filter(|text| text.contains("\"pools\""))
            {
                found.push(text.to_owned());
            }
            map.values().for_each(|value| plugin_configs(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| plugin_configs(value, found)),
        _ => {}
    }
}

#[test]
fn every_plugin_config_in_envoy_is_accepted() {
    let mut seen = 0;
    for entry in std::fs::read_dir(repository().join("envoy")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let mut configs = Vec::new();
        plugin_configs(&yaml(&path).expect("YAML"), &mut configs);
        for config in configs {
            seen += 1;
            if let Err(faults) = Config::parse(config.as_bytes()) {
                panic!("{}: {faults:?}", path.display());
            }
        }
    }
    assert!(seen >= 2, "the configs were not found");
}

#[test]
fn the_two_forms_of_the_filter_have_the_same_plugin_config() {
    let config = |name: &str| {
        let mut found = Vec::new();
        plugin_configs(&yaml(&repository().join("envoy").join(name)).expect("YAML"), &mut found);
        found.into_iter().map(|text| serde_json::from_str::<Value>(&text).expect("JSON")).collect::<Vec<_>>()
    };
    assert_eq!(config("envoy.yaml"), config("ecds.yaml"));
}
