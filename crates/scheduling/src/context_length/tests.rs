use serde_json::json;

use super::*;
use crate::Request;
use crate::testing::{Known, build, context, labeled, try_build};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LABEL: &str = "llm-d.ai/context-length-range";

fn kept(parameters: serde_json::Value, tokens: Option<u64>) -> Vec<bool> {
    let filter: ContextLengthAware = build(parameters);
    let pool = labeled(&[
        &[(LABEL, "0-100")],
        &[(LABEL, "100-500")],
        &[(LABEL, "0-2000")],
        &[],
        &[(LABEL, "up to 100")],
    ]);
    let request = Request { input_tokens: tokens, ..Request::default() };
    let known = Known::default();
    let verdicts = filter.judge(&context(&request, &pool, &known), &[0, 1, 2, 3, 4]);
    verdicts.iter().map(|verdict| *verdict == Verdict::Keep).collect()
}

#[test]
fn with_filtering_only_ranges_that_hold_the_prompt_may_serve() {
    let filtering = json!({"enableFiltering": true});
    assert_eq!(kept(filtering.clone(), Some(0)), [true, false, true, true, false]);
    assert_eq!(kept(filtering.clone(), None), [true, false, true, true, false]);
    assert_eq!(kept(filtering.clone(), Some(100)), [true, true, true, true, false], "both ends are included");
    assert_eq!(kept(filtering, Some(2_001)), [false, false, false, true, false]);
    assert_eq!(kept(json!({}), Some(2_001)), [true; 5]);
}

#[test]
fn a_range_is_two_numbers_in_order() {
    for (text, want) in [
        ("0-100", Some(Lengths { min: 0, max: 100 })),
        (" 7 - 7 ", Some(Lengths { min: 7, max: 7 })),
        ("", None),
        ("-", None),
        ("100", None),
        ("0-100-200", None),
        ("100-50", None),
        ("abc-100", None),
        ("-5-100", None),
        ("0-18446744073709551616", None),
    ] {
        assert_eq!(Lengths::parse(text), want, "{text:?}");
    }
}

#[test]
fn every_prompt_scores_between_0_and_1_in_every_range() {
    for range in [(0, 0), (0, 20), (500, 2_048), (0, u64::MAX), (u64::MAX, u64::MAX)] {
        for tokens in [0, 1, 499, 500, 2_048, 2_049, u64::MAX] {
            let score = Lengths { min: range.0, max: range.1 }.score(tokens);
            assert!((0.0..=1.0).contains(&score), "{range:?} {tokens} {score}");
        }
    }
}

#[test]
fn the_label_can_be_named() {
    assert!(try_build::<ContextLengthAware>(json!({"label": ""})).expect_err("empty").contains("label"));
}
