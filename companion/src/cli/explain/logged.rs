//! Decisions that Envoy logged.

use headroom_scheduling::Explanation;
use serde::Deserialize;
use serde_json::Value;

/// The decisions in a log, in its order: each alone on its line, inside a line of text, or in a field of a
/// line of JSON, as an object or as text.
pub(super) fn decisions(log: &str) -> Vec<Explanation> {
    if let Ok(decision) = serde_json::from_str(log) {
        return vec![decision];
    }
    log.lines().flat_map(in_line).collect()
}

fn in_line(line: &str) -> Vec<Explanation> {
    if let Ok(value) = serde_json::from_str::<Value>(line) {
        return in_value(&value);
    }
    // Braces open many things in a line of text; a decision is what reads as one.
    for (at, _) in line.match_indices('{') {
        let rest = line.get(at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            let found = in_value(&value);
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

fn in_value(value: &Value) -> Vec<Explanation> {
    match value {
        Value::Object(map) => match Explanation::deserialize(value) {
            Ok(decision) => vec![decision],
            Err(_) => map.values().flat_map(in_value).collect(),
        },
        Value::Array(list) => list.iter().flat_map(in_value).collect(),
        Value::String(text) => serde_json::from_str(text).into_iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_decision_is_found_however_it_was_logged() {
        let decision = json!({"pool": "p", "snapshotVersion": 3, "snapshotAgeMs": 40, "endpoints": 2,
                              "profile": "default", "outcome": {"chosen": ["10.0.0.1:80"]}});
        let pretty = serde_json::to_string_pretty(&decision).expect("JSON");
        let text = decision.to_string();
        for log in [
            text.clone(),
            pretty,
            format!("[2026-12-07] \"POST /v1 {{x}}\" 200 {text} 12ms\nnothing here\n"),
            json!({"status": 200, "decision": decision}).to_string(),
            format!("{}\n", json!({"status": 200, "log": {"decision": text}})),
        ] {
            let found = decisions(&log);
            assert_eq!(found.len(), 1, "{log}");
            assert_eq!(found[0].snapshot_version, 3);
        }
        assert_eq!(decisions(&format!("{text}\n-\n{text}\n")).len(), 2);
        assert!(decisions("{\"status\": 200}\n-\n").is_empty());
    }
}
