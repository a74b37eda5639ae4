use headroom_datalayer::{Sample, Snapshot};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::filters::{EndpointAttributeFilter, GpuUtilizationFilter, LabelSelectorFilter};
use crate::pickers::MaxScorePicker;
use crate::scorers::{ActiveRequestScorer, EndpointAttributeScorer, QueueScorer};
use crate::testing::{NOW, Sent, build, endpoint, sample, with};
use crate::{Explanation, Outcome, Plugin};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn filter<F: Filter + Plugin + 'static>(parameters: serde_json::Value) -> NamedFilter {
    NamedFilter { name: F::TYPE.to_owned(), filter: Box::new(build::<F>(parameters)) }
}

fn scorer<S: Scorer + Plugin + 'static>(weight: f64, parameters: serde_json::Value) -> NamedScorer {
    NamedScorer { name: S::TYPE.to_owned(), weight, scorer: Box::new(build::<S>(parameters)) }
}

fn profile(filters: Vec<NamedFilter>) -> Profile {
    Profile {
        name: "default".into(),
        filters,
        scorers: vec![
            scorer::<QueueScorer>(2.0, json!({})),
            scorer::<EndpointAttributeScorer>(
                1.0,
                json!({"attributeKey": "GPUUtilization", "algorithm": {"type": "linear_lower_is_better",
                       "normalization": {"fixedRange": {"min": 0, "max": 1}}}}),
            ),
            scorer::<ActiveRequestScorer>(1.0, json!({})),
        ],
        picker: Box::new(build::<MaxScorePicker>(json!({}))),
    }
}

/// Endpoints with a role label, a GPU utilisation and a queue.
fn snapshot(endpoints: &[(&str, Option<f64>, Option<f64>)]) -> Snapshot {
    let row = |gpu: Option<f64>, queue: Option<f64>| -> Vec<Option<Sample>> {
        vec![gpu.and_then(|v| sample(v, 10)), queue.and_then(|v| sample(v, 10))]
    };
    Snapshot::new(
        "qwen".into(),
        7,
        NOW,
        endpoints.iter().enumerate().map(|(n, (role, ..))| endpoint(n + 1, &[("role", role)])).collect(),
        vec!["GPUUtilization".into(), "WaitingQueueSize".into()],
        endpoints.iter().map(|(_, gpu, queue)| row(*gpu, *queue)).collect(),
    )
}

fn run(profile: &Profile, snapshot: &Snapshot) -> Decision {
    with(snapshot, &Sent::default(), |cx| profile.run(cx, &mut fastrand::Rng::with_seed(1)))
}

fn decode() -> NamedFilter {
    filter::<LabelSelectorFilter>(json!({"selector": "role=decode"}))
}

fn gpu(parameters: serde_json::Value) -> NamedFilter {
    filter::<GpuUtilizationFilter>(parameters)
}

#[test]
fn the_least_loaded_capable_endpoint_is_chosen_and_the_next_best_follow() {
    let pool = snapshot(&[
        ("prefill", Some(0.0), Some(0.0)),
        ("decode", Some(0.2), Some(3.0)),
        ("decode", Some(0.2), Some(1.0)),
        ("decode", Some(0.95), Some(0.0)),
    ]);
    let decision = run(&profile(vec![decode(), gpu(json!({"maxPercent": 90}))]), &pool);
    // 4 is over the limit, so it comes after the others; the list is filled up to four.
    assert_eq!(decision.outcome, Ok(vec![2, 1, 3, 2]));
    assert!(decision.fallbacks.is_empty());
}

#[test]
fn when_all_are_over_the_limit_the_least_bad_serves_and_the_decision_says_so() {
    let pool = snapshot(&[
        ("decode", Some(0.97), Some(0.0)),
        ("decode", Some(0.93), Some(9.0)),
        ("prefill", Some(0.1), Some(0.0)),
    ]);
    let profile = profile(vec![decode(), gpu(json!({"maxPercent": 90}))]);
    let decision = run(&profile, &pool);
    assert_eq!(decision.choice(), Some(1));
    assert_eq!(decision.fallbacks, [Fallback::LeastBad { filter: 1, kept: vec![1] }]);
    // No attempt may leave the capable endpoints.
    assert_eq!(decision.outcome, Ok(vec![1, 0, 1, 0]));
    let words = Explanation::new(&decision, &profile, &pool, 8).to_string();
    for part in ["chose pod-2", "gpu-utilization-filter", "nobody met it", "10.0.0.2:8000"] {
        assert!(words.contains(part), "{part} in {words}");
    }
}

#[test]
fn a_limit_without_fallback_rejects_as_saturated_and_a_capability_as_not_servable() {
    let hot = snapshot(&[("decode", Some(0.97), None)]);
    let strict = profile(vec![decode(), gpu(json!({"maxPercent": 90, "fallbackOnEmpty": false}))]);
    assert_eq!(run(&strict, &hot).outcome, Err(Rejection::Saturated { filter: 1 }));
    let other = snapshot(&[("prefill", None, None)]);
    let decision = run(&strict, &other);
    assert_eq!(decision.outcome, Err(Rejection::NoneCapable { filter: 0 }));
    assert_eq!(
        Explanation::new(&decision, &strict, &other, 8).outcome,
        Outcome::Rejected("no endpoint with labels role=decode (label-selector-filter)".into())
    );
    assert_eq!(run(&strict, &snapshot(&[])).outcome, Err(Rejection::NoEndpoints));
}

#[test]
fn missing_metrics_are_neither_idle_nor_saturated() {
    let filters = || vec![decode(), gpu(json!({"maxPercent": 90}))];
    let blind = snapshot(&[("decode", None, None)]);
    let decision = run(&profile(filters()), &blind);
    assert_eq!(decision.choice(), Some(0));
    assert_eq!(decision.fallbacks, [Fallback::MetricsMissing { filter: 1 }]);
    let one_blind = snapshot(&[("decode", None, None), ("decode", Some(0.5), Some(3.0))]);
    assert_eq!(run(&profile(filters()), &one_blind).choice(), Some(1));
    // An unmeasured endpoint does not stand in for the least bad of the measured ones.
    let hot = snapshot(&[("decode", None, None), ("decode", Some(0.95), Some(0.0))]);
    let decision = run(&profile(filters()), &hot);
    assert_eq!(decision.choice(), Some(1));
    assert_eq!(decision.fallbacks, [Fallback::LeastBad { filter: 1, kept: vec![1] }]);
}

#[test]
fn an_explanation_reads_back() {
    let pool = snapshot(&[("decode", Some(0.1), None), ("decode", Some(0.97), Some(1.0))]);
    let profile = profile(vec![decode(), gpu(json!({"maxPercent": 90}))]);
    let explanation = Explanation::new(&run(&profile, &pool), &profile, &pool, 8);
    let json = serde_json::to_string(&explanation).expect("serializes");
    assert_eq!(serde_json::from_str::<Explanation>(&json).expect("reads back"), explanation);
    assert_eq!(Explanation::new(&run(&profile, &pool), &profile, &pool, 0).not_shown, 2);
}

#[test]
fn a_soft_filter_written_before_a_hard_one_relaxes_for_it() {
    let pool =
        snapshot(&[("decode", Some(0.97), None), ("decode", Some(0.99), None), ("prefill", Some(0.1), None)]);
    let decision = run(&profile(vec![gpu(json!({"maxPercent": 90})), decode()]), &pool);
    assert_eq!(decision.choice(), Some(0));
    assert_eq!(decision.fallbacks, [Fallback::LeastBad { filter: 0, kept: vec![0] }]);
}

#[test]
fn an_explanation_shows_the_choice_even_among_many_equals_and_nobody_twice() {
    let pool = snapshot(&[("decode", Some(0.1), Some(0.0)); 40]);
    let profile = profile(vec![]);
    let decision = run(&profile, &pool);
    let explanation = Explanation::new(&decision, &profile, &pool, 3);
    let Outcome::Chosen(order) = &explanation.outcome else { panic!("rejected") };
    assert_eq!(
        explanation.candidates.iter().map(|c| &c.endpoint).collect::<Vec<_>>(),
        order[..3].iter().collect::<Vec<_>>()
    );
    assert_eq!(explanation.not_shown, 37);

    let profile = self::profile(vec![gpu(json!({"maxPercent": 90}))]);
    let hot = snapshot(&[("decode", Some(0.99), None), ("decode", Some(0.95), None), ("decode", None, None)]);
    let explanation = Explanation::new(&run(&profile, &hot), &profile, &hot, 8);
    let names = |list: &[crate::explanation::ExcludedEndpoint]| {
        list.iter().map(|e| e.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&explanation.excluded), ["pod-1"], "the one taken back is a candidate");
    assert_eq!(names(&explanation.undecided), ["pod-3"]);
    assert_eq!(explanation.not_shown, 0);
}

fn endpoints() -> impl Strategy<Value = Vec<(&'static str, Option<f64>, Option<f64>)>> {
    let number =
        || proptest::option::of(prop_oneof![0.0..1.5, Just(f64::NAN), Just(f64::INFINITY), Just(-1.0)]);
    proptest::collection::vec((prop_oneof![Just("decode"), Just("prefill")], number(), number()), 0..12)
}

fn filters() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0u8..4, 0..5)
}

fn make(kind: u8) -> NamedFilter {
    match kind {
        0 => decode(),
        1 => gpu(json!({"maxPercent": 50})),
        2 => gpu(json!({"maxPercent": 50, "onMissing": "exclude"})),
        _ => filter::<EndpointAttributeFilter>(
            json!({"attribute": "WaitingQueueSize", "fallbackOnEmpty": true,
            "algorithm": {"type": "threshold", "threshold": {"operator": "LessThan", "value": 0.5}}}),
        ),
    }
}

proptest! {
    #[test]
    fn no_sequence_of_filters_returns_whom_a_hard_one_excluded(
        endpoints in endpoints(), kinds in filters(), seed in any::<u64>()
    ) {
        let pool = snapshot(&endpoints);
        let profile = profile(kinds.iter().map(|kind| make(*kind)).collect());
        let decision = with(&pool, &Sent::default(), |cx| profile.run(cx, &mut fastrand::Rng::with_seed(seed)));
        let hard = kinds.contains(&0);
        let capable = |index: usize| !hard || endpoints[index].0 == "decode";
        match &decision.outcome {
            Ok(order) => {
                prop_assert!(order.iter().all(|index| capable(*index)));
                prop_assert!(decision.candidates.iter().any(|c| Some(c.endpoint) == decision.choice()));
                prop_assert_eq!(order.len(), 4);
            }
            Err(Rejection::NoEndpoints) => prop_assert!(endpoints.is_empty()),
            Err(_) => prop_assert!((0..endpoints.len()).all(|index| !capable(index))),
        }
        for candidate in &decision.candidates {
            prop_assert!(candidate.total.is_finite());
            prop_assert!(candidate.opinions.iter().all(|o| (0.0..=1.0).contains(&o.score.get())));
        }
    }

    #[test]
    fn the_order_in_which_endpoints_are_listed_does_not_matter(
        endpoints in endpoints(), kinds in filters(), seed in any::<u64>()
    ) {
        let addresses = |pool: &Snapshot, decision: &Decision| -> Vec<String> {
            let order = decision.outcome.clone().unwrap_or_default();
            order.into_iter().take(1).map(|i| pool.endpoints()[i].address.to_string()).collect()
        };
        let profile = profile(kinds.iter().map(|kind| make(*kind)).collect());
        let decide = |pool: &Snapshot| {
            with(pool, &Sent::default(), |cx| profile.run(cx, &mut fastrand::Rng::with_seed(seed)))
        };
        let pool = snapshot(&endpoints);
        let rows: Vec<Vec<Option<Sample>>> = (0..endpoints.len())
            .map(|i| pool.columns().iter().map(|key| pool.sample(i, pool.column(key)?).cloned()).collect())
            .collect();
        let reversed = Snapshot::new(
            "qwen".into(), 7, NOW,
            pool.endpoints().iter().rev().cloned().collect(),
            pool.columns().to_vec(),
            rows.into_iter().rev().collect(),
        );
        prop_assert_eq!(addresses(&pool, &decide(&pool)), addresses(&reversed, &decide(&reversed)));
    }
}
