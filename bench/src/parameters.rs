//! Random parameters of every plugin.

use anyhow::bail;
use headroom_datalayer::ATTRIBUTES;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::pool::{CUSTOM, LABELS};

/// Valid parameters of a plugin of this type; of a type that both filters and scores they fit either.
///
/// # Errors
/// When the type is not listed here: whoever adds a plugin adds it here, too.
pub fn random(dice: &mut Dice, kind: &str) -> anyhow::Result<Value> {
    Ok(match kind {
        "decode-filter" | "encode-filter" | "prefill-filter" | "single-profile-handler" => json!({}),
        "always-disagg-multimodal-decider" | "always-disagg-pd-decider" => json!({}),
        "topology-affinity-scorer" => json!({}),
        "context-length-aware" => json!({"enableFiltering": dice.chance(0.5)}),
        "endpoint-attribute-filter" => limits(
            json!({"attribute": attribute(dice), "algorithm": {"type": "threshold", "threshold": {
                "operator": dice.one(&["LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "Equal", "NotEqual"]),
                "value": dice.one(&[0.0, 0.5, 1.0, 30.0, 90.0, -1.0])}}}),
            dice,
        ),
        "gpu-utilization-filter" => limits(json!({"maxPercent": dice.share() * 100.0}), dice),
        "health-filter" => on_missing(
            json!({"consecutiveFailures": dice.below(7), "ejectionTime": "30s",
                   "maxEjectedPercent": dice.one(&[0, 10, 50, 100])}),
            dice,
        ),
        "label-selector-filter" => selector(dice),
        "memory-tier-filter" => on_missing(json!({"outputTokens": dice.below(5_000)}), dice),
        "model-filter"
        | "kv-cache-utilization-scorer"
        | "queue-scorer"
        | "running-requests-size-scorer"
        | "lora-affinity-scorer" => on_missing(json!({}), dice),
        "prefix-cache-affinity-filter" => json!({
            "affinityThreshold": dice.share(), "explorationProbability": dice.one(&[0.0, 0.3]),
            "maxTTFTPenaltyMs": dice.one(&[0.0, 18_000.0]), "peakPrefillThroughput": 1_000.0 + dice.share()}),
        "session-affinity-filter" | "session-affinity-scorer" => session(dice),
        "utilization-filter" => {
            let (queue, kv) = (dice.below(40), dice.share());
            limits(
                json!({"conditions": [
                {"metric": dice.clone().one(&["active-requests", "running-requests", "waiting-queue"]), "maxValue": queue},
                {"metric": "kv-cache-utilization", "maxValue": kv}]}),
                dice,
            )
        }
        "active-request-scorer" => json!({"idleThreshold": dice.below(4), "maxBusyScore": dice.share()}),
        "endpoint-attribute-scorer" => {
            let fixed = json!({"fixedRange": {"min": 0.0, "max": dice.one(&[1.0, 100.0, 7.3])}});
            let range = if dice.chance(0.5) { fixed } else { json!("adaptiveRange") };
            let kind = dice.one(&["linear_lower_is_better", "linear_higher_is_better"]);
            on_missing(
                json!({"attributeKey": attribute(dice), "algorithm": {"type": kind, "normalization": range}}),
                dice,
            )
        }
        "header-label-affinity-scorer" => json!({"headerName": "X-Zone", "labelKey": label(dice).0}),
        "load-aware-scorer" => on_missing(json!({"threshold": 1 + dice.below(200)}), dice),
        "no-hit-lru-scorer" => json!({"lruSize": 1 + dice.below(70)}),
        "prefix-cache-scorer" => {
            json!({"matchLengthWeight": dice.share(), "matchLengthScaleTokens": 1 + dice.below(9_000)})
        }
        "token-load-scorer" => json!({"queueThresholdTokens": 1 + dice.below(8_000_000)}),
        "max-score-picker" | "power-of-two-picker" | "random-picker" | "weighted-random-picker" => {
            json!({"maxNumOfEndpoints": 1 + dice.below(8)})
        }
        "disagg-profile-handler" => disagg(dice),
        "header-profile-handler" => json!({"defaultProfile": dice.one(&["decode", "prefill"])}),
        "prefix-based-pd-decider" => {
            json!({"nonCachedTokens": dice.below(6_000), "promptTokens": dice.below(400)})
        }
        _ => bail!(
            "{kind} has no parameters in bench/src/parameters.rs: add them, so that it is compared, too"
        ),
    })
}

fn attribute(dice: &mut Dice) -> &'static str {
    match dice.below(6) {
        0 => CUSTOM,
        1 => dice.one(&["custom.gpu_utilization_percent", "custom.queue_depth", "NeverMeasured"]),
        _ => ATTRIBUTES.get(dice.index(ATTRIBUTES.len())).map_or(CUSTOM, |info| info.name),
    }
}

fn label(dice: &mut Dice) -> (&'static str, &'static [&'static str]) {
    LABELS.get(dice.index(LABELS.len())).copied().unwrap_or_default()
}

/// What a filter with a limit has beside it.
fn limits(mut parameters: Value, dice: &mut Dice) -> Value {
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.insert("fallbackOnEmpty".to_owned(), json!(dice.chance(0.6)));
    }
    on_missing(parameters, dice)
}

/// What a plugin that reads attributes has beside the rest.
fn on_missing(mut parameters: Value, dice: &mut Dice) -> Value {
    if let Some(parameters) = parameters.as_object_mut() {
        if dice.chance(0.6) {
            let choice = dice.one(&["exclude", "pass", "worst", "neutral"]);
            parameters.insert("onMissing".to_owned(), json!(choice));
        }
        if dice.chance(0.3) {
            parameters.insert("maxAge".to_owned(), json!(dice.one(&["500ms", "2s", "10m"])));
        }
    }
    parameters
}

fn selector(dice: &mut Dice) -> Value {
    let (key, values) = label(dice);
    let value = dice.one(values);
    match dice.below(4) {
        0 => json!({"selector": format!("{key},llm-d.ai/role in (decode,both)")}),
        1 => json!({"selector": format!("!{key}")}),
        2 => json!({"matchLabels": {"llm-d.ai/model-family": "qwen"}}),
        _ => {
            let operator = dice.one(&["In", "NotIn"]);
            json!({"matchExpressions": [{"key": key, "operator": operator, "values": [value, "other"]}]})
        }
    }
}

fn session(dice: &mut Dice) -> Value {
    let strategy = dice.one(&["encoded_endpoint_header", "session_id"]);
    let mut parameters = json!({"strategy": strategy});
    if dice.chance(0.5)
        && let Some(parameters) = parameters.as_object_mut()
    {
        parameters.insert("signingKey".to_owned(), json!("a key of more than sixteen characters"));
    }
    parameters
}

/// With names in `deciders` that whoever asks replaces.
fn disagg(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => json!({"stageOrder": "prefill-first", "deciders": {"encode": ""}}),
        1 => json!({"deciders": {"prefill": ""}}),
        _ => json!({"deciders": {"prefill": "", "encode": ""}}),
    }
}
