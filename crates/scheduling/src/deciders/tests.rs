use serde_json::json;

use super::*;
use crate::testing::{Known, build, context, pool, try_build};
use crate::{Decider, Request};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn enough_uncached_tokens_are_worth_a_prefill_stage() {
    let snapshot = pool("x", &[None]);
    let request = Request { input_tokens: Some(10), ..Request::default() };
    for (non_cached, prompt, cached, want) in [
        (0, 0, Some(5), false),
        (5, 20, Some(0), false),
        (20, 0, Some(0), false),
        (5, 10, Some(5), true),
        (5, 11, Some(5), false),
        (5, 0, Some(8), false),
        (5, 0, Some(5), true),
        (5, 0, Some(6), false),
        (3, 0, Some(2), true),
        (1, 0, Some(10), false),
        (1, 0, Some(11), false),
        (5, 0, Some(0), true),
        (5, 0, None, true),
    ] {
        let parameters = json!({"nonCachedTokens": non_cached, "promptTokens": prompt});
        let decider: PrefixBasedPdDecider = build(parameters.clone());
        let known = Known::cached(&[cached], 10, 1);
        assert_eq!(decider.wanted(&context(&request, &snapshot, &known), 0), want, "{parameters} {cached:?}");
    }
    let decider: PrefixBasedPdDecider = build(json!({"nonCachedTokens": 1}));
    let bodiless = Request::default();
    assert!(!decider.wanted(&context(&bodiless, &snapshot, &Known::default()), 0));
    for bad in [json!({"promptTokens": -1}), json!({"nonCachedTokens": "5"}), json!({"cachedTokens": 1})] {
        assert!(try_build::<PrefixBasedPdDecider>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn always_is_always_and_multimodal_is_for_images() {
    let snapshot = pool("x", &[None]);
    let known = Known::default();
    for multimodal in [false, true] {
        let request = Request { multimodal, ..Request::default() };
        let cx = context(&request, &snapshot, &known);
        assert!(AlwaysDisaggPdDecider.wanted(&cx, 0));
        assert_eq!(AlwaysDisaggMultimodalDecider.wanted(&cx, 0), multimodal);
    }
}
