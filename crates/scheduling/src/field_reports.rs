//! What users of other pickers reported about choosing, as tests of whole profiles. Cold endpoints and frozen
//! gauges are in the profile's own tests.

use headroom_datalayer::{Sample, Snapshot, Timestamp};
use serde_json::json;

use crate::filters::{GpuUtilizationFilter, SessionAffinityFilter, UtilizationFilter};
use crate::pickers::MaxScorePicker;
use crate::scorers::{KvCacheUtilizationScorer, QueueScorer};
use crate::testing::{Known, NOW, build, context, endpoint, pool, request_with, with};
use crate::{Context, Fallback, NamedFilter, NamedScorer, Plugin, Profile, Rejection, Request, Unmeasured};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn by_queue(filters: Vec<NamedFilter>, max_age: &str) -> Profile {
    let scorer = Box::new(build::<QueueScorer>(json!({"maxAge": max_age})));
    Profile {
        name: "default".into(),
        filters,
        scorers: vec![NamedScorer { name: QueueScorer::TYPE.into(), weight: 1.0, scorer }],
        picker: Box::new(build::<MaxScorePicker>(json!({"maxNumOfEndpoints": 1}))),
        exploration: 0.0,
    }
}

fn choices(profile: &Profile, snapshot: &Snapshot) -> Vec<Option<usize>> {
    let (request, known) = (Request::default(), Known::default());
    let decide = |seed| profile.run(&Context { seed, ..context(&request, snapshot, &known) }).choice();
    (0..100).map(decide).collect()
}

#[test]
fn an_unknown_engine_is_not_an_idle_one() {
    let snapshot = pool("WaitingQueueSize", &[None, Some((3.0, 10))]);
    assert_eq!(choices(&by_queue(Vec::new(), "2s"), &snapshot), [Some(1); 100]);
}

#[test]
fn a_stale_idle_reading_does_not_keep_winning() {
    let snapshot = pool("WaitingQueueSize", &[Some((0.0, 30_000)), Some((4.0, 100)), Some((6.0, 200))]);
    assert_eq!(choices(&by_queue(Vec::new(), "2s"), &snapshot), [Some(1); 100]);
}

#[test]
fn a_reading_from_the_future_does_not_win() {
    let ahead = Timestamp::from_millis(2_000_000);
    let value = |number, measured_at| {
        headroom_datalayer::Value::number(number).map(|value| Sample { value, measured_at })
    };
    let snapshot = Snapshot::new(
        "test".into(),
        1,
        NOW,
        vec![endpoint(1, &[]), endpoint(2, &[])],
        vec!["WaitingQueueSize".into()],
        vec![vec![value(0.0, ahead)], vec![value(9.0, NOW)]],
    );
    assert_eq!(choices(&by_queue(Vec::new(), "2s"), &snapshot), [Some(1); 100]);
}

#[test]
fn a_pool_of_one_with_stale_metrics_serves_and_says_so() {
    let gpu = || NamedFilter {
        name: GpuUtilizationFilter::TYPE.into(),
        filter: Box::new(build::<GpuUtilizationFilter>(json!({"maxPercent": 90, "maxAge": "2s"}))),
    };
    let stale = pool("GPUUtilization", &[Some((1.0, 5_000))]);
    let decision = with(&stale, &Known::default(), |cx| by_queue(vec![gpu()], "2s").run(cx));
    assert_eq!(decision.choice(), Some(0));
    assert_eq!(decision.fallbacks, [Fallback::MetricsMissing { filter: 0 }]);
}

#[test]
fn when_every_scrape_fails_traffic_goes_on_over_all() {
    let blind = pool("WaitingQueueSize", &[None; 10]);
    let chosen: std::collections::BTreeSet<_> =
        choices(&by_queue(Vec::new(), "2s"), &blind).into_iter().collect();
    assert!(chosen.len() > 5 && !chosen.contains(&None), "{chosen:?}");
}

#[test]
fn what_was_sent_since_the_scrape_keeps_the_limit() {
    let limit = NamedFilter {
        name: UtilizationFilter::TYPE.into(),
        filter: Box::new(build::<UtilizationFilter>(
            json!({"conditions": [{"metric": "waiting-queue", "maxValue": 5}]}),
        )),
    };
    let profile = by_queue(vec![limit], "2s");
    let snapshot = pool("WaitingQueueSize", &[Some((0.0, 50))]);
    let mut sent = 0;
    for _ in 0..200 {
        match with(&snapshot, &Known::sent(&[sent]), |cx| profile.run(cx)).outcome {
            Ok(_) => sent += 1,
            Err(rejection) => assert_eq!(rejection, Rejection::Saturated { filter: 0 }),
        }
    }
    assert_eq!(sent, 6, "the limit is met by 5 waiting, so the sixth is the last");
}

#[test]
fn equal_endpoints_share_the_requests() {
    let snapshot = pool("WaitingQueueSize", &[Some((1.0, 10)); 4]);
    let chosen = choices(&by_queue(Vec::new(), "2s"), &snapshot);
    for index in 0..4 {
        assert!(chosen.iter().filter(|choice| **choice == Some(index)).count() > 10, "{index}");
    }
}

#[test]
fn one_absent_metric_stops_nothing() {
    let scorers = || {
        vec![
            NamedScorer { name: "q".into(), weight: 1.0, scorer: Box::new(build::<QueueScorer>(json!({}))) },
            NamedScorer {
                name: "kv".into(),
                weight: 1.0,
                scorer: Box::new(build::<KvCacheUtilizationScorer>(json!({}))),
            },
        ]
    };
    let snapshot = pool("KVCacheUsagePercent", &[Some((0.2, 10)), Some((0.9, 10))]);
    let profile = Profile { scorers: scorers(), ..by_queue(Vec::new(), "2s") };
    assert_eq!(choices(&profile, &snapshot), [Some(0); 100]);
}

#[test]
fn a_utilisation_far_over_100_is_missing_and_not_clamped() {
    let gpu = || NamedFilter {
        name: GpuUtilizationFilter::TYPE.into(),
        filter: Box::new(build::<GpuUtilizationFilter>(json!({"maxPercent": 90}))),
    };
    let judged = |value: f64| {
        let snapshot = pool("GPUUtilization", &[Some((value, 10)), Some((0.5, 10))]);
        let decision = with(&snapshot, &Known::default(), |cx| by_queue(vec![gpu()], "2s").run(cx));
        (
            decision.excluded.len(),
            decision.undecided.iter().map(|undecided| undecided.why).collect::<Vec<_>>(),
        )
    };
    assert_eq!(judged(731.12), (0, vec![Unmeasured::Impossible]));
    assert_eq!(judged(0.95), (1, vec![]));
    let healed = pool("GPUUtilization", &[Some((0.1, 10))]);
    let decision = with(&healed, &Known::default(), |cx| by_queue(vec![gpu()], "2s").run(cx));
    assert_eq!((decision.choice(), decision.fallbacks), (Some(0), Vec::new()));
}

#[test]
fn an_endpoint_is_its_address_and_its_port() {
    let by_session = NamedFilter {
        name: SessionAffinityFilter::TYPE.into(),
        filter: Box::new(build::<SessionAffinityFilter>(json!({"strategy": "session_id"}))),
    };
    let profile = by_queue(vec![by_session], "2s");
    let snapshot = pool("WaitingQueueSize", &[Some((5.0, 10)), Some((0.0, 10))]);
    let request = request_with("x-session-id", "s");
    for (pinned, choice) in [
        ("10.0.0.1:8000", 0),
        // Another port of the same host, and one that has left the pool.
        ("10.0.0.1:9090", 1),
        ("10.0.0.7:8000", 1),
    ] {
        let sessions = [("s".to_owned(), pinned.to_owned())].into();
        let known = Known { sessions, ..Known::default() };
        assert_eq!(profile.run(&context(&request, &snapshot, &known)).choice(), Some(choice), "{pinned}");
    }
}
