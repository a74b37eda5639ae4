//! What was derived, for people and for programs.

use std::fmt::Write;

use headroom_datalayer::{Value, attribute_info};
use serde_json::{Map, json};

use super::derive::{Derived, value};

/// A table of each scrape.
pub(super) fn text(derived: &[Derived]) -> String {
    derived.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(derived: &Derived) -> String {
    let mut text = String::new();
    let kind = derived.kind.unwrap_or("nothing that is known");
    let _infallible = writeln!(text, "{}: {kind}, {} samples", derived.scrape, derived.samples);
    for (name, facts) in &derived.endpoints {
        let _infallible = writeln!(text, "  {name}");
        if facts.is_empty() {
            text.push_str("    no attribute: every value is missing\n");
        }
        for (attribute, sample) in facts {
            let unit = attribute_info(attribute).map_or("", |info| info.unit);
            let unit = if unit == "names" { "" } else { unit };
            let _infallible = write!(text, "    {attribute:<24} {:<16} {unit}", value(sample));
            let age = derived.now.since(sample.measured_at).as_secs_f64();
            if age > 0.0 {
                let _infallible = write!(text, ", {age:.1} s old");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
    }
    let errors = derived.errors.iter().map(ToString::to_string);
    let unmatched = derived.unmatched.into_iter().flat_map(|unmatched| unmatched.by_reason());
    let unmatched = unmatched
        .filter(|(_, count)| *count > 0)
        .map(|(reason, count)| format!("{count} GPUs belong to none of these endpoints: {reason}"));
    let ignored: Vec<String> = errors.chain(derived.notes.iter().cloned()).chain(unmatched).collect();
    if !ignored.is_empty() {
        text.push_str("  not used\n");
    }
    for what in ignored {
        let _infallible = writeln!(text, "    {what}");
    }
    text
}

/// The same as JSON.
pub(super) fn json(derived: &[Derived]) -> String {
    let scrapes: Vec<serde_json::Value> = derived.iter().map(to_json).collect();
    serde_json::to_string_pretty(&json!({ "scrapes": scrapes })).unwrap_or_default() + "\n"
}

fn to_json(derived: &Derived) -> serde_json::Value {
    let mut endpoints = Map::new();
    for (name, facts) in &derived.endpoints {
        let mut attributes = Map::new();
        for (attribute, sample) in facts {
            let value = match &sample.value {
                Value::Number(number) => json!(f64::from(*number)),
                Value::Names(names) => json!(names),
            };
            let age = derived.now.since(sample.measured_at).as_millis();
            attributes.insert(attribute.to_string(), json!({ "value": value, "ageMs": age }));
        }
        endpoints.insert(name.clone(), json!({ "attributes": attributes }));
    }
    let error =
        |error: &headroom_exposition::LineError| json!({"line": error.line, "reason": error.reason.as_str()});
    let unmatched = derived.unmatched.map(|unmatched| {
        let counts =
            unmatched.by_reason().into_iter().map(|(reason, count)| (reason.to_owned(), json!(count)));
        counts.collect::<Map<_, _>>()
    });
    json!({
        "scrape": derived.scrape,
        "kind": derived.kind,
        "samples": derived.samples,
        "endpoints": endpoints,
        "errors": derived.errors.iter().map(error).collect::<Vec<_>>(),
        "notes": derived.notes,
        "unmatchedGpus": unmatched,
    })
}
