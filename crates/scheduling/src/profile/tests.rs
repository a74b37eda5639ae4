use headroom_datalayer::{Sample, Snapshot};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::filters::{EndpointAttributeFilter, GpuUtilizationFilter, LabelSelectorFilter};
use crate::handlers::SingleProfileHandler;
use crate::pickers::MaxScorePicker;
use crate::scorers::{ActiveRequestScorer, EndpointAttributeScorer, QueueScorer};
use crate::testing::{Known, NOW, build, context, endpoint, sample, with};
use crate::{Detail, ExplainedOutcome, Explanation, Plugin, Request, Scheduler};
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
        exploration: 0.0,
    }
}

/// The decision of a pool with this one profile, in words.
fn explain(profile: Profile, snapshot: &Snapshot, max_endpoints: usize) -> Explanation {
    let scheduler = Scheduler { profiles: vec![profile], handler: Box::new(SingleProfileHandler) };
    with(snapshot, &Known::default(), |cx| {
        Explanation::new(&scheduler.schedule(cx), &scheduler, cx, Detail { max_endpoints, grounds: true })
    })
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

/// The same pool, with how the companion's last scrape of each endpoint went and how long ago.
fn scraped(pool: &Snapshot, ready: &[Option<(f64, u64)>]) -> Snapshot {
    let columns: Vec<String> = pool.columns().iter().cloned().chain(["Ready".to_owned()]).collect();
    let row = |index: usize| -> Vec<Option<Sample>> {
        let engine = pool.columns().iter().map(|key| pool.sample(index, pool.column(key)?).cloned());
        engine.chain([ready[index].and_then(|(value, age)| sample(value, age))]).collect()
    };
    let rows = (0..ready.len()).map(row).collect();
    Snapshot::new("qwen".into(), 7, NOW, pool.endpoints().to_vec(), columns, rows)
}

fn run(profile: &Profile, snapshot: &Snapshot) -> Decision {
    with(snapshot, &Known::default(), |cx| profile.run(cx))
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
    let words = explain(profile, &pool, 8).to_string();
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
    assert_eq!(run(&strict, &snapshot(&[])).outcome, Err(Rejection::NoEndpoints));
    assert_eq!(
        explain(strict, &other, 8).main.outcome,
        ExplainedOutcome::Rejected("no endpoint with labels role=decode (label-selector-filter)".into())
    );
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
fn an_explanation_reads_back_and_says_why_each_candidate_may_serve() {
    let pool = snapshot(&[("decode", Some(0.1), None), ("decode", Some(0.97), Some(1.0))]);
    let profile = || profile(vec![decode(), gpu(json!({"maxPercent": 90}))]);
    let explanation = explain(profile(), &pool, 8);
    let json = serde_json::to_string(&explanation).expect("serializes");
    assert_eq!(serde_json::from_str::<Explanation>(&json).expect("reads back"), explanation);
    let grounds: Vec<&str> =
        explanation.main.candidates[0].grounds.iter().map(|ground| ground.value.as_str()).collect();
    assert_eq!(grounds, ["role=decode", "custom.gpu_utilization_percent 10, 10ms old"]);
    let words = explanation.to_string();
    assert!(
        words.contains("may serve pod-1: role=decode (label-selector-filter: with labels role=decode)"),
        "{words}"
    );
    assert!(words.contains("queue-scorer x2"), "{words}");
    assert_eq!(explain(profile(), &pool, 0).main.not_shown, 2);
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
    let explanation = explain(profile(vec![]), &pool, 3).main;
    let ExplainedOutcome::Chosen(order) = &explanation.outcome else { panic!("rejected") };
    assert_eq!(
        explanation.candidates.iter().map(|c| &c.endpoint).collect::<Vec<_>>(),
        order[..3].iter().collect::<Vec<_>>()
    );
    assert_eq!(explanation.not_shown, 37);
    assert_eq!(explanation.tied.len(), 3, "who else had the highest total is said, as far as shown");

    let profile = self::profile(vec![gpu(json!({"maxPercent": 90}))]);
    let hot = snapshot(&[("decode", Some(0.99), None), ("decode", Some(0.95), None), ("decode", None, None)]);
    let explanation = explain(profile, &hot, 8).main;
    let names = |list: &[crate::explanation::ExcludedEndpoint]| {
        list.iter().map(|e| e.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&explanation.excluded), ["pod-1"], "the one taken back is a candidate");
    assert_eq!(names(&explanation.undecided), ["pod-3"]);
    assert_eq!(explanation.not_shown, 0);
}

#[test]
fn an_endpoint_without_gauges_or_with_frozen_ones_is_probed_now_and_then() {
    let answers = Some((1.0, 10));
    let cold = snapshot(&[("decode", Some(0.9), Some(3.0)), ("decode", None, None)]);
    let frozen = snapshot(&[("decode", Some(0.2), Some(0.0)), ("decode", Some(0.2), Some(21.0))]);
    let idle = snapshot(&[("decode", Some(0.2), Some(0.0)), ("decode", Some(0.9), Some(0.0))]);
    let profile = Profile { exploration: 0.02, ..profile(vec![]) };
    let probes = |pool: &Snapshot, in_flight: &[usize]| {
        let (request, known) = (Request::default(), Known::sent(in_flight));
        let chosen = |seed| {
            let decision = profile.run(&Context { seed, ..context(&request, pool, &known) });
            let probe = decision.fallbacks.iter().any(|f| matches!(f, Fallback::Probe { endpoint: 1, .. }));
            assert_eq!(probe, decision.choice() == Some(1), "a probe is told");
            probe
        };
        (0..10_000).filter(|seed| chosen(*seed)).count()
    };
    for pool in [&cold, &frozen] {
        let reached = scraped(pool, &[answers, answers]);
        assert!((100..300).contains(&probes(&reached, &[0, 0])), "about one request in fifty");
        assert_eq!(probes(&reached, &[0, 1]), 0, "one request at a time is enough to find out");
        for unreached in [None, Some((0.0, 10)), Some((1.0, 3_600_000))] {
            let unreached = scraped(pool, &[answers, unreached]);
            assert_eq!(probes(&unreached, &[0, 0]), 0, "whom the companion does not reach stays unknown");
        }
    }
    assert_eq!(probes(&scraped(&idle, &[answers, answers]), &[0, 0]), 0, "there is nothing to find out");
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
        let profile = Profile { exploration: 0.1, ..profile(kinds.iter().map(|kind| make(*kind)).collect()) };
        let (request, known) = (Request::default(), Known::default());
        let decision = profile.run(&Context { seed, ..context(&request, &pool, &known) });
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
        let profile = Profile { exploration: 0.1, ..profile(kinds.iter().map(|kind| make(*kind)).collect()) };
        let (request, known) = (Request::default(), Known::default());
        let decide = |pool: &Snapshot| profile.run(&Context { seed, ..context(&request, pool, &known) });
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
