use serde_json::json;

use super::*;
use crate::Plugin;
use crate::testing::try_build_among;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn fault<H: Plugin>(parameters: serde_json::Value, profiles: &[&str]) -> String {
    try_build_among::<H>(parameters, profiles).map(|_| ()).expect_err("invalid")
}

fn builds<H: Plugin>(parameters: serde_json::Value, profiles: &[&str]) {
    let text = parameters.to_string();
    assert!(try_build_among::<H>(parameters, profiles).is_ok(), "{text} {profiles:?}");
}

#[test]
fn stages_and_deciders_must_be_there() {
    let stages = ["decode", "prefill", "encode"];
    builds::<DisaggProfileHandler>(json!({}), &["decode"]);
    builds::<DisaggProfileHandler>(json!({"deciders": {"prefill": "from-five-tokens"}}), &stages);
    builds::<DisaggProfileHandler>(json!({"deciders": {"encode": "multimodal"}}), &["decode", "encode"]);
    builds::<DisaggProfileHandler>(json!({"stageOrder": "prefill-first"}), &["decode", "prefill"]);
    builds::<DisaggProfileHandler>(
        json!({"profiles": {"decode": "d", "prefill": "p"}, "deciders": {"prefill": "from-five-tokens"}}),
        &["p", "d"],
    );
    for (parameters, profiles, parts) in [
        (json!({}), &["default"][..], &["profiles.decode", "there are default"][..]),
        (json!({"deciders": {"prefill": "from-five-tokens"}}), &["decode"], &["profiles.prefill", "prefill"]),
        (json!({"deciders": {"encode": "multimodal"}}), &["decode"], &["profiles.encode"]),
        (json!({"stageOrder": "prefill-first"}), &["decode"], &["profiles.prefill"]),
        (json!({"deciders": {"prefill": "nobody"}}), &stages, &["deciders.prefill", "from-five-tokens"]),
        (
            json!({"stageOrder": "prefill-first", "deciders": {"prefill": "from-five-tokens"}}),
            &stages,
            &["deciders.prefill", "always runs"],
        ),
        (json!({"stageOrder": "encode-first"}), &stages, &["encode-first"]),
        (json!({"deciders": {"decode": "x"}}), &stages, &["decode"]),
        (
            json!({"profiles": {"decode": "nope"}, "deciders": {"prefill": "nobody"}}),
            &stages,
            &["nope", "nobody"],
        ),
    ] {
        let error = fault::<DisaggProfileHandler>(parameters.clone(), profiles);
        for part in parts {
            assert!(error.contains(part), "{parameters}: {error}");
        }
    }
}

#[test]
fn the_default_profile_of_a_header_must_be_there() {
    builds::<HeaderProfileHandler>(json!({}), &["only"]);
    builds::<HeaderProfileHandler>(json!({}), &["decode", "prefill"]);
    builds::<HeaderProfileHandler>(json!({"defaultProfile": "b", "headerName": "x-p"}), &["a", "b"]);
    let error = fault::<HeaderProfileHandler>(json!({"defaultProfile": "c"}), &["a", "b"]);
    assert!(error.contains("defaultProfile") && error.contains("there are a, b"), "{error}");
    assert!(fault::<HeaderProfileHandler>(json!({"headerName": ""}), &["a"]).contains("headerName"));
    assert!(fault::<HeaderProfileHandler>(json!({"header": "x"}), &["a"]).contains("header"));
}

#[test]
fn one_profile_is_all_that_the_single_handler_takes() {
    builds::<SingleProfileHandler>(json!({}), &["any"]);
    assert!(!fault::<SingleProfileHandler>(json!({}), &["a", "b"]).is_empty());
    assert!(fault::<SingleProfileHandler>(json!({"profile": "a"}), &["a"]).contains("profile"));
}
