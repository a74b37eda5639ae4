use headroom_datalayer::Timestamp;
use serde_json::json;

use super::*;
use crate::testing::{Known, NOW, build, pool, try_build, with};
use crate::{Plugin, Scorer};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

mod affinity;

type Values<'a> = &'a [Option<(f64, u64)>];

fn fresh(value: f64) -> Option<(f64, u64)> {
    Some((value, 10))
}

fn scores<S: Plugin + Scorer>(
    parameters: serde_json::Value,
    attribute: &str,
    values: Values<'_>,
    load: &Known,
) -> Vec<f64> {
    let scorer: S = build(parameters);
    let candidates: Vec<usize> = (0..values.len()).collect();
    let opinions = with(&pool(attribute, values), load, |cx| scorer.score(cx, &candidates));
    opinions.into_iter().map(|opinion| (opinion.score.get() * 1e4).round() / 1e4).collect()
}

#[test]
fn reported_sizes_score_by_llm_ds_formulas() {
    let none = Known::default();
    for (values, want) in [
        (vec![fresh(10.0), fresh(5.0), fresh(0.0)], vec![0.0, 0.5, 1.0]),
        (vec![fresh(5.0), fresh(5.0)], vec![1.0, 1.0]),
        (vec![fresh(0.0), fresh(0.0)], vec![1.0, 1.0]),
        (vec![fresh(2.0), None, fresh(10.0)], vec![1.0, 0.0, 0.0]),
        (vec![fresh(7.0)], vec![1.0]),
        (vec![None], vec![0.0]),
    ] {
        assert_eq!(scores::<QueueScorer>(json!({}), "WaitingQueueSize", &values, &none), want, "{values:?}");
        assert_eq!(
            scores::<RunningRequestsSizeScorer>(json!({}), "RunningRequestsSize", &values, &none),
            want
        );
    }
    for (values, want) in [
        ([fresh(0.8), fresh(0.5), fresh(0.0)], [0.2, 0.5, 1.0]),
        ([fresh(0.6), None, fresh(1.0)], [0.4, 0.0, 0.0]),
    ] {
        assert_eq!(
            scores::<KvCacheUtilizationScorer>(json!({}), "KVCacheUsagePercent", &values, &none),
            want
        );
    }
}

#[test]
fn an_idle_reading_that_has_expired_does_not_win() {
    let values = [Some((0.0, 30_000)), fresh(4.0), fresh(6.0)];
    let got = scores::<QueueScorer>(json!({"maxAge": "2s"}), "WaitingQueueSize", &values, &Known::default());
    assert_eq!(got, [0.0, 1.0, 0.0]);
}

#[test]
fn a_value_that_cannot_be_does_not_win() {
    let none = Known::default();
    for impossible in [-1.0, -0.001, -1e300] {
        let values = [fresh(impossible), fresh(4.0), fresh(6.0)];
        assert_eq!(scores::<QueueScorer>(json!({}), "WaitingQueueSize", &values, &none), [0.0, 1.0, 0.0]);
    }
    for (impossible, direction) in [(-0.5, "lower"), (731.12, "higher"), (4_294_967_295.0, "higher")] {
        let parameters = json!({"attributeKey": "custom.gpu_utilization_percent",
            "algorithm": {"type": format!("linear_{direction}_is_better")}});
        let values = [fresh(impossible), fresh(0.5), fresh(0.5)];
        let scored = scores::<EndpointAttributeScorer>(parameters, "GPUUtilization", &values, &none);
        assert_eq!(scored, [0.0, 1.0, 1.0], "{impossible}");
    }
    // What an attribute of the user's own can be, only the user knows.
    let parameters = json!({"attributeKey": "custom.delta", "algorithm": {"type": "linear_lower_is_better"}});
    let values = [fresh(-1.0), fresh(3.0)];
    assert_eq!(scores::<EndpointAttributeScorer>(parameters, "custom.delta", &values, &none), [1.0, 0.0]);
}

#[test]
fn the_mean_of_the_others_does_not_depend_on_their_order() {
    let neutral = json!({"onMissing": "neutral"});
    let bits = |values: Values<'_>| {
        let scorer: KvCacheUtilizationScorer = build(neutral.clone());
        let candidates: Vec<usize> = (0..values.len()).collect();
        let pool = pool("KVCacheUsagePercent", values);
        let opinions = with(&pool, &Known::default(), |cx| scorer.score(cx, &candidates));
        let of_missing = values.iter().zip(opinions).find(|(value, _)| value.is_none());
        of_missing.expect("one is missing").1.score.get().to_bits()
    };
    let mut values = [None, fresh(0.1), fresh(0.2), fresh(0.3), fresh(0.7), fresh(0.9)];
    let first = bits(&values);
    for _ in 0..values.len() {
        values.rotate_left(1);
        assert_eq!(bits(&values), first);
        values.swap(1, 3);
        assert_eq!(bits(&values), first);
    }
}

#[test]
fn the_rule_for_missing_values_can_be_chosen() {
    let values = [fresh(0.0), fresh(4.0), fresh(8.0), None];
    for (rule, want) in [("worst", 0.0), ("exclude", 0.0), ("neutral", 0.5), ("pass", 1.0)] {
        let got =
            scores::<QueueScorer>(json!({"onMissing": rule}), "WaitingQueueSize", &values, &Known::default());
        assert_eq!(got.last(), Some(&want), "{rule}");
    }
}

#[test]
fn requests_sent_after_the_measurement_are_added_to_it() {
    let before = Timestamp::from_micros(NOW.as_micros() - 20_000);
    let load = Known { sent: vec![vec![NOW, NOW, before], vec![]], ..Known::default() };
    let values = [fresh(0.0), fresh(1.0)];
    assert_eq!(scores::<QueueScorer>(json!({}), "WaitingQueueSize", &values, &load), [0.0, 1.0]);
    let by_key =
        json!({"attributeKey": "custom.queue_depth", "algorithm": {"type": "linear_lower_is_better"}});
    assert_eq!(scores::<EndpointAttributeScorer>(by_key, "WaitingQueueSize", &values, &load), [0.0, 1.0]);
}

#[test]
fn active_requests_score_by_llm_ds_formula() {
    for (parameters, counts, want) in [
        (json!({}), [0, 0, 0], [1.0, 1.0, 1.0]),
        (json!({}), [3, 0, 6], [0.5, 1.0, 0.0]),
        (json!({}), [4, 0, 1], [0.0, 1.0, 0.75]),
        (json!({"idleThreshold": 1, "maxBusyScore": 0.5}), [1, 2, 0], [1.0, 0.0, 1.0]),
        (json!({"maxBusyScore": 0.0}), [1, 0, 1], [0.0, 1.0, 0.0]),
    ] {
        let got = scores::<ActiveRequestScorer>(
            parameters.clone(),
            "x",
            &[None, None, None],
            &Known::sent(&counts),
        );
        assert_eq!(got, want, "{parameters} {counts:?}");
    }
    assert!(
        try_build::<ActiveRequestScorer>(json!({"maxBusyScore": 2}))
            .expect_err("range")
            .contains("maxBusyScore")
    );
}

#[test]
fn an_attribute_scores_in_a_fixed_or_an_adaptive_range() {
    let algorithm = |kind: &str, normalization: serde_json::Value| json!({"attributeKey": "x", "algorithm": {"type": kind, "normalization": normalization}});
    let lower = "linear_lower_is_better";
    let fixed = json!({"fixedRange": {"min": 0, "max": 10}});
    let none = Known::default();
    for (parameters, values, want) in [
        (algorithm(lower, json!("adaptiveRange")), [fresh(10.0), None, fresh(0.0)], [0.0, 0.0, 1.0]),
        (
            algorithm(lower, json!({"adaptiveRange": {}})),
            [fresh(10.0), fresh(5.0), fresh(0.0)],
            [0.0, 0.5, 1.0],
        ),
        (algorithm(lower, fixed.clone()), [fresh(7.0), fresh(15.0), fresh(-5.0)], [0.3, 0.0, 1.0]),
        (algorithm("linear_higher_is_better", fixed), [fresh(10.0), None, fresh(5.0)], [1.0, 0.0, 0.5]),
    ] {
        assert_eq!(
            scores::<EndpointAttributeScorer>(parameters.clone(), "x", &values, &none),
            want,
            "{parameters}"
        );
    }
    let percent = json!({
        "attributeKey": "custom.gpu_utilization_percent",
        "algorithm": {"type": lower, "normalization": {"fixedRange": {"min": 0, "max": 100}}},
    });
    assert_eq!(scores::<EndpointAttributeScorer>(percent, "GPUUtilization", &[fresh(0.25)], &none), [0.75]);
    for (bad, part) in [
        (json!({"algorithm": {"type": lower}}), "attributeKey"),
        (algorithm("linear", json!("adaptiveRange")), "linear"),
        (algorithm(lower, json!({"fixedRange": {"min": 5, "max": 5}})), "min must be below max"),
        (algorithm(lower, json!({"adaptiveRange": {}, "fixedRange": {"min": 0, "max": 1}})), "not both"),
        (algorithm(lower, json!("adaptive")), "neither"),
    ] {
        let error = try_build::<EndpointAttributeScorer>(bad).expect_err("invalid");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn nothing_known_of_anybody_is_no_reason_to_prefer_one() {
    assert_eq!(
        scores::<QueueScorer>(json!({}), "other", &[fresh(1.0), fresh(2.0)], &Known::default()),
        [0.0, 0.0]
    );
    with(&pool("x", &[]), &Known::default(), |cx| {
        assert!(build::<QueueScorer>(json!({})).score(cx, &[]).is_empty())
    });
}
