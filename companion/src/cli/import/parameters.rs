//! The parameters of a plugin, and those of older types.

use serde_json::{Map, Value, json};

use super::types;
use crate::cli::finding::Finding;

type Parameters = Map<String, Value>;

/// Parameters of llm-d's that do nothing here, by today's type, and why.
const LEFT_OUT: &[(&str, &[&str], &str)] = &[
    ("active-request-scorer", &["requestTimeout"], "llm-d ignores it, too"),
    ("no-hit-lru-scorer", &["prefixPluginType", "prefixPluginName"], "there is one source of prefix matches"),
    (
        "prefix-cache-scorer",
        &[
            "autoTune",
            "blockSize",
            "blockSizeTokens",
            "hashBlockSize",
            "maxPrefixBlocksToMatch",
            "maxPrefixTokensToMatch",
            "lruCapacityPerServer",
            "mode",
            "tokenProcessorConfig",
            "indexerConfig",
            "kvEventsConfig",
            "tokenizersPoolConfig",
            "speculativeIndexing",
            "speculativeTTL",
        ],
        "it belongs to the data producer, and there is none here",
    ),
    ("prefix-cache-affinity-filter", &["ttftSource"], "the time is estimated from the prefill throughput"),
    ("endpoint-attribute-filter", &["producer"], "an attribute has one source"),
    ("endpoint-attribute-scorer", &["producer"], "an attribute has one source"),
    ("disagg-profile-handler", &["primaryPort"], "endpoints have one port each"),
    (
        "disagg-profile-handler",
        &["prefixPluginType", "prefixPluginName"],
        "there is one source of prefix matches",
    ),
    ("disagg-profile-handler", &["threshold", "hashBlockSize"], "the decider says when, by nonCachedTokens"),
    ("single-profile-handler", &["primaryPort"], "each rank is an endpoint of its own, address and port"),
];

/// Older, flat names of the P/D handler's parameters, and today's place.
const DISAGG: &[(&str, &str, &str)] = &[
    ("decodeProfile", "profiles", "decode"),
    ("prefillProfile", "profiles", "prefill"),
    ("encodeProfile", "profiles", "encode"),
    ("deciderPluginName", "deciders", "prefill"),
    ("prefillDeciderPluginName", "deciders", "prefill"),
    ("encodeDeciderPluginName", "deciders", "encode"),
];

/// Makes the parameters ours; gives today's type.
pub(super) fn adapt(kind: &str, given: &mut Parameters, path: &str, findings: &mut Vec<Finding>) -> String {
    let current = types::current(kind);
    let (mut strip, mut gone) = (Vec::new(), |key: &str, value: Value, reason: &str| {
        findings.push(Finding::warning(format!("{path}.{key}"), value, format!("left out: {reason}")));
    });
    for (_, keys, reason) in LEFT_OUT.iter().filter(|(of, ..)| *of == current) {
        strip.extend(keys.iter().map(|key| ((*key).to_owned(), *reason)));
    }
    let producers = given.keys().filter(|key| key.to_lowercase().ends_with("producername"));
    strip.extend(producers.map(|key| (key.clone(), "what it reads has one source")));
    for (key, reason) in strip {
        if let Some(value) = given.remove(&key) {
            gone(&key, value, reason);
        }
    }
    match current {
        "by-label" => return by_label(given, path, findings),
        "endpoint-attribute-filter" => match given.get("onMissing").and_then(Value::as_str) {
            Some("Pass") => set(given, "onMissing", json!("pass")),
            Some("Fail") => set(given, "onMissing", json!("exclude")),
            _ => {}
        },
        "session-affinity-filter" | "session-affinity-scorer" => {
            if let Some(Value::Object(sessions)) = given.get_mut("sessionIdConfig")
                && let Some(value) = sessions.remove("evictionSweepSeconds")
            {
                gone("sessionIdConfig.evictionSweepSeconds", value, "pins end by themselves");
            }
        }
        "disagg-profile-handler" => {
            for (old, group, key) in DISAGG {
                if let Some(value) = given.remove(*old) {
                    nest(given, group, key, value);
                }
            }
            if kind == "pd-profile-handler" && !has_decider(given) {
                nest(given, "deciders", "prefill", json!("prefix-based-pd-decider"));
            }
        }
        _ => {}
    }
    current.to_owned()
}

fn set(given: &mut Parameters, key: &str, value: Value) {
    given.insert(key.to_owned(), value);
}

fn nest(given: &mut Parameters, group: &str, key: &str, value: Value) {
    let entry = given.entry(group).or_insert_with(|| json!({}));
    if let Some(entry) = entry.as_object_mut() {
        entry.insert(key.to_owned(), value);
    }
}

fn has_decider(given: &Parameters) -> bool {
    given.get("deciders").is_some_and(|deciders| deciders.get("prefill").is_some())
}

/// Roles that the decode filter lets pass, beside endpoints without a role.
const DECODE: [&str; 4] = ["decode", "both", "prefill-decode", "encode-prefill-decode"];

/// `by-label`, which says "one of these values, or no such label".
fn by_label(given: &mut Parameters, path: &str, findings: &mut Vec<Finding>) -> String {
    let label = given.remove("label").unwrap_or_default();
    let values = given.remove("validValues").unwrap_or_default();
    let unlabelled = given.remove("allowsNoLabel").is_some_and(|allows| allows == true);
    let list: Vec<&str> = values.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if label.as_str().is_none_or(str::is_empty) {
        findings.push(Finding::error(format!("{path}.label"), &label, "must name a label"));
    }
    if unlabelled && !list.is_empty() {
        if list.iter().all(|value| DECODE.contains(value)) {
            let reason =
                "now a decode-filter, which accepts every role that can decode, and endpoints without one";
            findings.push(Finding::warning(format!("{path}.validValues"), &values, reason));
            set(given, "label", label);
            return "decode-filter".to_owned();
        }
        let reason = "a label selector cannot say \"one of these values or no label\"; label the endpoints";
        findings.push(Finding::error(format!("{path}.allowsNoLabel"), true, reason));
    }
    let expression = match (list.is_empty(), unlabelled) {
        (true, true) => json!({"key": label, "operator": "DoesNotExist"}),
        _ => json!({"key": label, "operator": "In", "values": list}),
    };
    set(given, "matchExpressions", json!([expression]));
    "label-selector-filter".to_owned()
}
