//! llm-d's form: plugins, profiles that refer to them, one handler.

use serde_json::{Value, json};

use super::{errors, pool};
use crate::config::Config;

fn plugins() -> Value {
    json!([
        {"type": "decode-filter"},
        {"type": "prefill-filter"},
        {"type": "queue-scorer", "weight": 5},
        {"type": "prefix-cache-scorer", "name": "warm", "parameters": {"matchLengthWeight": 0.5}},
        {"type": "max-score-picker", "parameters": {"maxNumOfEndpoints": 2}},
        {"type": "prefix-based-pd-decider", "name": "long"},
        {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": "long"}}},
    ])
}

fn profiles() -> Value {
    json!([
        {"name": "decode", "plugins": [{"pluginRef": "decode-filter"}, {"pluginRef": "warm", "weight": 3},
                                       {"pluginRef": "queue-scorer"}, {"pluginRef": "max-score-picker"}]},
        {"name": "prefill", "plugins": [{"pluginRef": "prefill-filter"}, {"pluginRef": "queue-scorer", "weight": 0}]},
    ])
}

fn config(plugins: &Value, profiles: &Value) -> Value {
    pool(&json!({"name": "p", "plugins": plugins, "schedulingProfiles": profiles}))
}

#[test]
fn profiles_take_their_plugins_in_the_written_order_and_their_weights_from_the_reference() {
    let text = config(&plugins(), &profiles()).to_string();
    let config = Config::parse(text.as_bytes()).expect("valid");
    let shape = |profile: &headroom_scheduling::Profile| {
        let filters: Vec<_> = profile.filters.iter().map(|filter| filter.name.clone()).collect();
        let scorers: Vec<_> =
            profile.scorers.iter().map(|scorer| (scorer.name.clone(), scorer.weight)).collect();
        (profile.name.clone(), filters, scorers, profile.picker.max_endpoints())
    };
    let owned = |(name, weight): (&str, f64)| (name.to_owned(), weight);
    let shapes: Vec<_> = config.pools[0].scheduler.profiles.iter().map(shape).collect();
    let filter = |name: &str| vec![name.to_owned()];
    assert_eq!(
        shapes,
        [
            (
                "decode".into(),
                filter("decode-filter"),
                [("warm", 3.0), ("queue-scorer", 5.0)].map(owned).to_vec(),
                2
            ),
            ("prefill".into(), filter("prefill-filter"), [("queue-scorer", 0.0)].map(owned).to_vec(), 4),
        ]
    );
}

#[test]
fn without_profiles_all_plugins_make_up_one() {
    let plugins = json!([{"type": "queue-scorer", "weight": 2}, {"type": "decode-filter"},
                         {"type": "context-length-aware", "parameters": {"enableFiltering": true}}]);
    let text = pool(&json!({"name": "p", "plugins": plugins})).to_string();
    let config = Config::parse(text.as_bytes()).expect("valid");
    let [profile] = config.pools[0].scheduler.profiles.as_slice() else { panic!("one profile") };
    let filters: Vec<_> = profile.filters.iter().map(|filter| filter.name.as_str()).collect();
    let scorers: Vec<_> =
        profile.scorers.iter().map(|scorer| (scorer.name.as_str(), scorer.weight)).collect();
    assert_eq!(filters, ["decode-filter", "context-length-aware"]);
    assert_eq!(scorers, [("queue-scorer", 2.0), ("context-length-aware", 1.0)]);
}

/// The config with one place of it replaced, or appended to where the place is the end of an array.
fn with(pointer: &str, value: Value) -> Value {
    let mut config = config(&plugins(), &profiles());
    let place = format!("/pools/0{pointer}");
    if let Some(array) = place.strip_suffix("/-") {
        config.pointer_mut(array).and_then(Value::as_array_mut).expect("an array").push(value);
    } else if let Some((parent, key)) = place.rsplit_once('/') {
        let parent = config.pointer_mut(parent).expect("it is there");
        match parent {
            Value::Array(items) => items[key.parse::<usize>().expect("an index")] = value,
            parent => parent[key] = value,
        }
    }
    config
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_place() {
    for (pointer, value, fault) in [
        ("/filters", json!([{"type": "health-filter"}]), "pools[0].plugins: give either plugins"),
        ("/picker", json!({"type": "random-picker"}), "pools[0].plugins: give either plugins"),
        (
            "/plugins/-",
            json!({"type": "qeue-scorer"}),
            "pools[0].plugins[7].type: \"qeue-scorer\": unknown type; known are",
        ),
        // No profile refers to it.
        (
            "/plugins/-",
            json!({"type": "load-aware-scorer", "threshold": 0}),
            "pools[0].plugins[7].threshold: 0: ",
        ),
        (
            "/plugins/-",
            json!({"type": "queue-scorer"}),
            "pools[0].plugins: \"queue-scorer\": two plugins have this name",
        ),
        ("/plugins/-", json!({"type": "health-filter", "weight": 1}), "pools[0].plugins[7].weight: 1: "),
        (
            "/plugins/-",
            json!({"type": "single-profile-handler"}),
            "pools[0].plugins[7]: \"single-profile-handler\": a pool has one",
        ),
        (
            "/plugins/6",
            json!({"type": "random-picker"}),
            "pools[0].schedulingProfiles: there are 2 profiles and no profile handler",
        ),
        (
            "/plugins/6/parameters/deciders/prefill",
            json!("short"),
            "pools[0].plugins[6].parameters.deciders.prefill: \"short\": ",
        ),
        (
            "/plugins/6/parameters/profiles",
            json!({"decode": "d"}),
            "pools[0].plugins[6].parameters.profiles.decode: \"d\": ",
        ),
        (
            "/schedulingProfiles/0/plugins/-",
            json!({"pluginRef": "nobody"}),
            "pools[0].schedulingProfiles[0].plugins[4].pluginRef: \"nobody\": is not the name",
        ),
        (
            "/schedulingProfiles/0/plugins/-",
            json!({"pluginRef": "warm"}),
            "pools[0].schedulingProfiles[0].plugins[4].pluginRef: \"warm\": the profile refers to it twice",
        ),
        (
            "/schedulingProfiles/0/plugins/-",
            json!({"pluginRef": "long"}),
            "pools[0].schedulingProfiles[0].plugins[4].pluginRef: \"long\": is a prefix-based-pd-decider",
        ),
        (
            "/schedulingProfiles/0/plugins/0/weight",
            json!(2),
            "pools[0].schedulingProfiles[0].plugins[0].weight: 2: a decode-filter has no weight",
        ),
        (
            "/schedulingProfiles/0/plugins/1/weight",
            json!(-1),
            "pools[0].schedulingProfiles[0].plugins[1].weight: -1",
        ),
        (
            "/schedulingProfiles/1/name",
            json!("decode"),
            "pools[0].schedulingProfiles: \"decode\": two profiles have this name",
        ),
        ("/schedulingProfiles/1/name", json!(""), "pools[0].schedulingProfiles[1].name: \"\": "),
        (
            "/explorationProbability",
            json!(1.5),
            "pools[0].explorationProbability: 1.5: must be between 0 and 1",
        ),
        ("/explorationProbability", json!(-0.1), "pools[0].explorationProbability: -0.1: "),
    ] {
        let errors = errors(&with(pointer, value.clone()));
        assert!(errors.iter().any(|error| error.starts_with(fault)), "{pointer} {value}: {errors:#?}");
    }
    let mut two_pickers = with("/plugins/-", json!({"type": "random-picker"}));
    let references = two_pickers.pointer_mut("/pools/0/schedulingProfiles/0/plugins").expect("references");
    references.as_array_mut().expect("an array").push(json!({"pluginRef": "random-picker"}));
    let errors = errors(&two_pickers);
    assert!(
        errors[0].starts_with("pools[0].schedulingProfiles[0]: \"random-picker\": a profile has one picker"),
        "{errors:#?}"
    );
}
