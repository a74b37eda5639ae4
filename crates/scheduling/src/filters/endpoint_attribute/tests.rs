use serde_json::json;

use super::*;
use crate::testing::{Known, build, pool, try_build, with};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn kept(filter: &EndpointAttributeFilter, values: &[Option<(f64, u64)>]) -> String {
    let snapshot = pool("x", values);
    let candidates: Vec<usize> = (0..values.len()).collect();
    with(&snapshot, &Known::default(), |cx| filter.judge(cx, &candidates))
        .into_iter()
        .map(|verdict| match verdict {
            Verdict::Keep => 'k',
            Verdict::Undecided { .. } => '?',
            Verdict::Drop { .. } => '-',
        })
        .collect()
}

fn filter(operator: &str, value: f64, on_missing: &str) -> EndpointAttributeFilter {
    build(json!({
        "attribute": "x", "onMissing": on_missing,
        "algorithm": {"type": "threshold", "threshold": {"operator": operator, "value": value}},
    }))
}

#[test]
fn every_operator_compares_as_named() {
    let fresh = |v: f64| Some((v, 10));
    for (operator, want) in [
        ("LessThan", "k--"),
        ("LessThanOrEqual", "kk-"),
        ("GreaterThan", "--k"),
        ("GreaterThanOrEqual", "-kk"),
        ("Equal", "-k-"),
        ("NotEqual", "k-k"),
    ] {
        let got = kept(&filter(operator, 10.0, "neutral"), &[fresh(5.0), fresh(10.0), fresh(15.0)]);
        assert_eq!(got, want, "{operator}");
    }
}

#[test]
fn missing_stale_and_future_values_follow_the_rule_and_are_never_a_number() {
    let values = [None, Some((0.0, 3_600_000)), Some((5.0, 10))];
    for (rule, want) in [("neutral", "??k"), ("pass", "kkk"), ("exclude", "--k"), ("worst", "--k")] {
        assert_eq!(kept(&filter("LessThan", 10.0, rule), &values), want, "{rule}");
    }
}

#[test]
fn bad_parameters_are_named() {
    for (parameters, part) in [
        (
            json!({"attribute": "", "algorithm": {"type": "threshold", "threshold": {"operator": "Equal", "value": 1}}}),
            "attribute",
        ),
        (json!({"attribute": "x"}), "algorithm"),
        (json!({"attribute": "x", "algorithm": {"type": "treshold"}}), "treshold"),
        (
            json!({"attribute": "x", "algorithm": {"type": "threshold", "threshold": {"operator": "<", "value": 1}}}),
            "<",
        ),
    ] {
        let error = try_build::<EndpointAttributeFilter>(parameters).expect_err("invalid");
        assert!(error.contains(part), "{error}");
    }
}
