//! The JSON Schema that editors use says of a config what the filter says.

use headroom_bench::{config, dice::Dice};
use headroom_filter::config::Config;
use serde_json::{Value as Json, json};

use crate::case::drawn;

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../../docs/plugin-config.schema.json");
    jsonschema::validator_for(&serde_json::from_str(text).expect("JSON")).expect("a JSON Schema")
}

fn whole(pool: &Json) -> Json {
    json!({"feed": {"cluster": "companion"}, "pools": [pool]})
}

/// The objects that hold the parameters of a pool's plugins.
fn parameters(pool: &mut Json) -> Vec<&mut Json> {
    let lists = pool.as_object_mut().into_iter().flatten();
    let plugins = lists.filter(|(field, _)| ["filters", "scorers", "plugins"].contains(&field.as_str()));
    plugins
        .flat_map(|(_, plugins)| plugins.as_array_mut().into_iter().flatten())
        .filter_map(|plugin| plugin.get_mut("parameters"))
        .collect()
}

#[test]
fn what_the_filter_takes_is_valid() {
    let (schema, mut dice) = (schema(), Dice::new(6));
    for number in 0..1_000 {
        let pool = drawn(&mut dice).pool;
        config::compile(&pool).expect("valid");
        let errors: Vec<String> = schema
            .iter_errors(&whole(&pool))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{number}: {errors:#?}\nin {pool}");
    }
}

#[test]
fn a_misspelt_parameter_is_invalid_for_both() {
    let (schema, mut dice) = (schema(), Dice::new(7));
    let mut tried = 0;
    for number in 0..1_000 {
        let mut pool = drawn(&mut dice).pool;
        let mut places = parameters(&mut pool);
        let at = dice.index(places.len());
        let Some(place) = places.get_mut(at).and_then(|place| place.as_object_mut()) else { continue };
        place.insert("maxPercnt".to_owned(), json!(1));
        tried += 1;
        let config = whole(&pool);
        assert!(Config::parse(config.to_string().as_bytes()).is_err(), "{number}: {pool}");
        assert!(!schema.is_valid(&config), "{number}: {pool}");
    }
    assert!(tried > 900, "{tried}");
}
