use serde_json::json;

use super::*;

mod profiles;

fn errors(config: &serde_json::Value) -> Vec<String> {
    match Config::parse(config.to_string().as_bytes()) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

fn pool(pool: &serde_json::Value) -> serde_json::Value {
    json!({"feed": {"cluster": "companion"}, "pools": [pool]})
}

#[test]
fn the_short_form_works_as_it_stands() {
    let config = pool(&json!({
        "name": "qwen",
        "filters": [
            {"type": "label-selector-filter", "selector": "llm-d.ai/model-family=qwen,llm-d.ai/serving-role=decode"},
            {"type": "gpu-utilization-filter", "maxPercent": 90, "fallbackOnEmpty": true},
        ],
        "scorers": [
            {"name": "gpu-headroom", "attributeKey": "custom.gpu_utilization_percent",
             "algorithm": {"type": "linear_lower_is_better", "normalization": {"fixedRange": {"min": 0, "max": 100}}}},
            {"name": "queue-pressure", "attributeKey": "custom.queue_depth",
             "algorithm": {"type": "linear_lower_is_better", "normalization": "adaptiveRange"}},
            {"type": "queue-scorer", "weight": 2, "parameters": {"maxAge": "2s"}},
        ],
    }));
    let config = Config::parse(config.to_string().as_bytes()).expect("valid");
    let profile = &config.pools[0].scheduler.profiles[0];
    let scorers: Vec<_> = profile.scorers.iter().map(|s| (s.name.as_str(), s.weight)).collect();
    assert_eq!(scorers, [("gpu-headroom", 1.0), ("queue-pressure", 1.0), ("queue-scorer", 2.0)]);
    assert_eq!(config.clusters.get("qwen"), Some(&0));
}

#[test]
fn a_pool_that_says_nothing_of_scheduling_has_the_default_scorers() {
    let config = Config::parse(pool(&json!({"name": "p"})).to_string().as_bytes()).expect("valid");
    assert_eq!(config.pools[0].scheduler.profiles[0].scorers.len(), 4);
}

#[test]
fn a_list_whose_entries_cannot_be_read_does_not_hide_other_faults() {
    let config = json!({"feed": {"cluster": "c"}, "pools": [
        {"name": "a", "clusters": ["x", 3], "filters": [{"type": "gpu-utilization-filter", "maxPercent": 900}]}]});
    let found = errors(&config);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("pools[0].clusters[1]: 3: "), "{found:?}");
    assert!(found[1].starts_with("pools[0].filters[0].maxPercent: 900: "), "{found:?}");
}

#[test]
fn all_faults_are_reported_at_once_with_path_value_and_reason() {
    let config = json!({
        "feed": {"cluster": "", "silence": "1s", "colour": "red"},
        "pools": [
            {"name": "a", "clusters": ["x", "x"], "maxBodyBytes": "big",
             "filters": [{"type": "gpu-utilisation-filter"},
                         {"type": "gpu-utilization-filter", "maxPercent": 900},
                         {"type": "gpu-utilization-filter", "maxPercnt": 90}],
             "scorers": [{"type": "queue-scorer", "weight": -1}, {"weight": 1}]},
            {"name": "a", "maxAge": {"WaitingQueueSize": "2 parsecs"}, "picker": {"type": "max-score-picker", "weight": 2}},
            "p",
        ],
    });
    let errors = errors(&config);
    for part in [
        "feed.colour: \"red\": unknown field",
        "pools[0].maxBodyBytes: \"big\": ",
        "pools[1].maxAge.WaitingQueueSize: \"2 parsecs\": ",
        "pools[2]: \"p\": invalid type",
    ] {
        assert!(errors.iter().any(|error| error.starts_with(part)), "{part} in {errors:#?}");
    }
    for part in [
        "feed.cluster: \"\": must name",
        "feed.silence: 1s: must be at least 2s",
        "pools[0].clusters[1]: \"x\": is already scheduled",
        "pools[0].filters[0].type: \"gpu-utilisation-filter\": unknown type; known here are context-length-aware, decode-filter",
        "pools[0].filters[1].maxPercent: 900: must be between 0 and 100",
        "pools[0].filters[2].maxPercnt: 90: unknown field",
        "pools[0].scorers[0].weight: -1: must be",
        "pools[0].scorers[1].type: must name",
        "pools[1].name: \"a\": is the name of an earlier pool",
        "pools[1].picker.weight: 2: a picker has no weight",
    ] {
        assert!(errors.iter().any(|error| error.starts_with(part)), "{part} in {errors:#?}");
    }
}

#[test]
fn what_would_break_responses_or_sums_is_refused() {
    for header in
        ["content-length", "transfer-encoding", "x-", "X-A", "x-gateway-destination-endpoint", "x a"]
    {
        let faults = errors(&pool(&json!({"name": "p", "explain": {"responseHeader": header}})));
        assert!(faults.iter().any(|fault| fault.starts_with("pools[0].explain.responseHeader")), "{header}");
    }
    assert!(
        errors(&pool(&json!({"name": "p", "explain": {"responseHeader": "x-headroom-decision"}}))).is_empty()
    );
    let heavy = pool(&json!({"name": "p", "scorers": [{"type": "queue-scorer", "weight": 1e308}]}));
    assert!(errors(&heavy)[0].starts_with("pools[0].scorers[0].weight"));
}

#[test]
fn what_is_not_json_or_has_no_pools_is_refused() {
    assert!(Config::parse(b"{").expect_err("broken")[0].to_string().contains("not JSON"));
    assert!(errors(&json!({"feed": {"cluster": "c"}, "pools": []}))[0].starts_with("pools: []: must have"));
    assert!(errors(&json!({"pools": []}))[0].starts_with("feed.cluster: "));
    let twice = pool(&json!({"name": "p", "scorers": [{"type": "queue-scorer"}, {"type": "queue-scorer"}]}));
    assert!(errors(&twice)[0].contains("two scorers have this name"));
}
