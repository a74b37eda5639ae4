use headroom_datalayer::{Snapshot, Span, Value};
use serde_json::json;

use super::*;
use crate::testing::{
    Known, build, context, labeled, names, pool, request_with, sample, table, try_build, with,
};
use crate::{Effect, Failing, Filter, Picked, PrefixMatch, Request, Strength, Verdict};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// One letter an endpoint: kept, excluded, or undecided.
fn verdicts(filter: &dyn Filter, request: &Request, snapshot: &Snapshot, known: &Known) -> String {
    let candidates: Vec<usize> = (0..snapshot.endpoints().len()).collect();
    let verdicts = filter.judge(&context(request, snapshot, known), &candidates);
    assert_eq!(verdicts.len(), candidates.len());
    let letter = |verdict: &Verdict| match verdict {
        Verdict::Keep => 'k',
        Verdict::Undecided { .. } => '?',
        Verdict::Drop { .. } => '-',
    };
    verdicts.iter().map(letter).collect()
}

fn number(value: f64) -> Option<Value> {
    Value::number(value)
}

fn measured(attribute: &str, values: &[Option<f64>]) -> Snapshot {
    let fresh: Vec<_> = values.iter().map(|value| value.map(|value| (value, 10))).collect();
    pool(attribute, &fresh)
}

#[test]
fn roles_are_kept_as_by_llm_d() {
    let role = "llm-d.ai/role";
    let pool = labeled(&[
        &[(role, "decode")],
        &[(role, "prefill")],
        &[(role, "prefill-decode")],
        &[(role, "both")],
        &[(role, "encode-prefill-decode")],
        &[(role, "encode")],
        &[(role, "encode-prefill")],
        &[],
        &[("app", "vllm")],
        &[(role, "Decode")],
    ]);
    let known = Known::default();
    let kept = |filter: &dyn Filter| verdicts(filter, &Request::default(), &pool, &known);
    assert_eq!(kept(&build::<RoleFilter<Decode>>(json!({}))), "k-kkk--kk-");
    assert_eq!(kept(&build::<RoleFilter<Prefill>>(json!({}))), "-kkkk-k---");
    assert_eq!(kept(&build::<RoleFilter<Encode>>(json!({}))), "----kkk---");
    assert!(try_build::<RoleFilter<Decode>>(json!({"label": ""})).expect_err("empty").contains("label"));
}

#[test]
fn selectors_keep_as_kubernetes_does() {
    let pool = labeled(&[
        &[("app", "nginx"), ("version", "v1"), ("tier", "frontend")],
        &[("app", "nginx"), ("version", "v2"), ("tier", "frontend")],
        &[("app", "coredns"), ("tier", "system")],
        &[("app", "redis"), ("tier", "backend"), ("deprecated", "true")],
        &[("app", "web"), ("tier", "frontend"), ("env", "prod")],
    ]);
    let known = Known::default();
    let expressions = |key: &str, operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
    for (parameters, want) in [
        (json!({"matchLabels": {"app": "nginx"}}), "kk---"),
        (json!({"matchLabels": {"app": "nginx", "version": "v1"}}), "k----"),
        (expressions("tier", "In", &["frontend", "backend"]), "kk-kk"),
        (expressions("tier", "NotIn", &["system"]), "kk-kk"),
        (expressions("deprecated", "Exists", &[]), "---k-"),
        (expressions("deprecated", "DoesNotExist", &[]), "kkk-k"),
        (expressions("nobody-has-this", "In", &["x"]), "-----"),
        (expressions("nobody-has-this", "NotIn", &["x"]), "kkkkk"),
        (
            json!({"matchLabels": {"tier": "frontend"},
                   "matchExpressions": [{"key": "env", "operator": "In", "values": ["prod"]}]}),
            "----k",
        ),
        (json!({}), "kkkkk"),
        (json!({"matchLabels": {"app": "absent"}}), "-----"),
        (json!({"selector": "tier in (frontend,backend),!deprecated,app!=web"}), "kk---"),
        (json!({"selector": "env"}), "----k"),
    ] {
        let filter: LabelSelectorFilter = build(parameters.clone());
        assert_eq!(verdicts(&filter, &Request::default(), &pool, &known), want, "{parameters}");
        assert_eq!(filter.strength(), Strength::Hard);
    }
}

#[test]
fn utilization_keeps_those_within_every_limit() {
    let limit = |metric: &str, max: f64| json!({"conditions": [{"metric": metric, "maxValue": max}]});
    let in_flight = Known::sent(&[1, 2, 3]);
    let filter: UtilizationFilter = build(limit("active-requests", 2.0));
    let nothing = pool("x", &[None, None, None]);
    assert_eq!(verdicts(&filter, &Request::default(), &nothing, &in_flight), "kk-");
    for (metric, attribute, max, values, want) in [
        ("running-requests", "RunningRequestsSize", 4.0, vec![Some(4.0), Some(5.0)], "k-"),
        ("waiting-queue", "WaitingQueueSize", 0.0, vec![Some(0.0), Some(1.0)], "k-"),
        ("kv-cache-utilization", "KVCacheUsagePercent", 0.8, vec![Some(0.5), Some(0.9)], "k-"),
        ("waiting-queue", "WaitingQueueSize", 2.0, vec![None, Some(1.0), Some(3.0)], "?k-"),
    ] {
        let filter: UtilizationFilter = build(limit(metric, max));
        let snapshot = measured(attribute, &values);
        assert_eq!(verdicts(&filter, &Request::default(), &snapshot, &Known::default()), want, "{metric}");
    }
    let both: UtilizationFilter = build(json!({"conditions": [
        {"metric": "waiting-queue", "maxValue": 5}, {"metric": "kv-cache-utilization", "maxValue": 0.8}]}));
    let snapshot = table(
        &["WaitingQueueSize", "KVCacheUsagePercent"],
        vec![
            vec![number(1.0), number(0.5)],
            vec![number(9.0), number(0.5)],
            vec![number(1.0), number(0.9)],
            vec![None, number(0.9)],
            vec![None, number(0.1)],
        ],
    );
    assert_eq!(verdicts(&both, &Request::default(), &snapshot, &Known::default()), "k---?");
    assert_eq!(both.strength(), Strength::Strict);
    let soft: UtilizationFilter =
        build(json!({"conditions": [{"metric": "waiting-queue", "maxValue": 0}], "fallbackOnEmpty": true}));
    assert_eq!(soft.strength(), Strength::Soft);
    for (bad, part) in [
        (json!({"conditions": []}), "conditions"),
        (json!({}), "conditions"),
        (json!({"conditions": [{"maxValue": 1}]}), "metric"),
        (limit("gpu", 1.0), "gpu"),
        (json!({"conditions": [{"metric": "waiting-queue"}]}), "maxValue"),
        (limit("waiting-queue", -1.0), "conditions[0].maxValue"),
        (limit("kv-cache-utilization", 80.0), "not a percentage"),
    ] {
        let error = try_build::<UtilizationFilter>(bad.clone()).expect_err("invalid");
        assert!(error.contains(part), "{bad}: {error}");
    }
}

#[test]
fn over_one_limit_and_unknown_in_another_respect_is_no_nearer_to_being_kept() {
    let filter: UtilizationFilter = build(json!({"fallbackOnEmpty": true, "conditions": [
        {"metric": "waiting-queue", "maxValue": 5}, {"metric": "kv-cache-utilization", "maxValue": 0.1}]}));
    let columns = ["WaitingQueueSize", "KVCacheUsagePercent"];
    let rows = vec![vec![number(6.0), number(0.9)], vec![number(6.0), None], vec![None, number(0.9)]];
    let snapshot = table(&columns, rows);
    let verdicts = with(&snapshot, &Known::default(), |cx| filter.judge(cx, &[0, 1, 2]));
    let known = |verdict: &Verdict| matches!(verdict, Verdict::Drop { excess: Some(_), .. });
    assert_eq!(verdicts.iter().map(known).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn what_was_sent_since_the_measurement_counts_against_a_limit() {
    let filter: UtilizationFilter =
        build(json!({"conditions": [{"metric": "waiting-queue", "maxValue": 2}]}));
    let snapshot = measured("WaitingQueueSize", &[Some(0.0), Some(0.0)]);
    assert_eq!(verdicts(&filter, &Request::default(), &snapshot, &Known::sent(&[3, 2])), "-k");
}

#[test]
fn a_model_is_served_where_an_engine_says_so() {
    let snapshot = table(
        &["ServedModels", "ActiveModels", "WaitingModels"],
        vec![
            vec![names(&["qwen", "tutor-lora"]), names(&[]), names(&[])],
            vec![names(&["qwen"]), names(&["tutor-lora"]), names(&[])],
            vec![names(&["qwen"]), names(&[]), names(&["tutor-lora"])],
            vec![names(&["qwen"]), None, None],
            vec![None, names(&["tutor-lora"]), None],
            vec![None, names(&["other-lora"]), None],
            vec![None, None, None],
        ],
    );
    let asks = |model: Option<&str>| Request { model: model.map(str::to_owned), ..Request::default() };
    let known = Known::default();
    let filter: ModelFilter = build(json!({}));
    assert_eq!(verdicts(&filter, &asks(Some("tutor-lora")), &snapshot, &known), "kkk-k??");
    assert_eq!(verdicts(&filter, &asks(Some("qwen")), &snapshot, &known), "kkkk???");
    assert_eq!(verdicts(&filter, &asks(Some("Qwen")), &snapshot, &known), "----???");
    assert_eq!(verdicts(&filter, &asks(None), &snapshot, &known), "kkkkkkk", "GET /v1/models names none");
    let strict: ModelFilter = build(json!({"onMissing": "exclude"}));
    assert_eq!(verdicts(&strict, &asks(Some("qwen")), &snapshot, &known), "kkkk---");
    assert_eq!(filter.strength(), Strength::Hard);
}

#[test]
fn a_request_goes_only_where_its_kv_cache_fits() {
    let snapshot = table(
        &["CacheBlockSize", "CacheNumBlocks", "MaxModelLen"],
        vec![
            vec![number(16.0), number(100.0), None],
            vec![number(16.0), number(1_000.0), number(4_096.0)],
            vec![number(16.0), number(1_000.0), number(1_000.0)],
            vec![None, None, number(2_000.0)],
            vec![number(16.0), None, None],
            vec![None, None, None],
        ],
    );
    let request =
        |input, output| Request { input_tokens: input, max_output_tokens: output, ..Request::default() };
    let known = Known::default();
    let filter: MemoryTierFilter = build(json!({"outputTokens": 500}));
    for (input, output, want) in [
        (Some(1_100), None, "kk-k??"),
        (Some(1_101), None, "-k-k??"),
        (Some(1_000), Some(1_000), "-k-k??"),
        (Some(1_000), Some(1_001), "-k--??"),
        (Some(5_000), Some(0), "----??"),
        (Some(u64::MAX), Some(u64::MAX), "----??"),
        (None, None, "kkkkkk"),
    ] {
        assert_eq!(
            verdicts(&filter, &request(input, output), &snapshot, &known),
            want,
            "{input:?} {output:?}"
        );
    }
    let cx_request = request(Some(1_000), Some(24));
    assert_eq!(
        filter.constraint(&context(&cx_request, &snapshot, &known)),
        "that holds the request's 1024 tokens"
    );
}

#[test]
fn health_takes_out_who_is_not_ready_or_keeps_failing_but_never_most_of_the_pool() {
    let failing = |failures: u32, seconds: u64| Some(Failing { failures, ago: Span::from_secs(seconds) });
    let filter: HealthFilter = build(json!({}));
    let ready = measured("Ready", &[Some(1.0), Some(0.0), None, Some(1.0)]);
    assert_eq!(verdicts(&filter, &Request::default(), &ready, &Known::default()), "k-?k");
    let four = measured("Ready", &[Some(1.0); 4]);
    for (failures, want) in [
        (vec![failing(4, 1), None, None, None], "kkkk"),
        (vec![failing(5, 1), None, None, None], "-kkk"),
        (vec![failing(5, 31), None, None, None], "kkkk"),
        (vec![failing(5, 30), None, failing(9, 0), None], "-k-k"),
        (vec![failing(5, 1), failing(7, 1), failing(9, 1), failing(8, 1)], "kk--"),
        (vec![failing(5, 1), failing(5, 1), failing(5, 1), failing(5, 1)], "--kk"),
    ] {
        let known = Known { failing: failures.clone(), ..Known::default() };
        assert_eq!(verdicts(&filter, &Request::default(), &four, &known), want, "{failures:?}");
    }
    let alone = measured("Ready", &[Some(1.0)]);
    let known = Known { failing: vec![failing(99, 0)], ..Known::default() };
    assert_eq!(verdicts(&filter, &Request::default(), &alone, &known), "k", "a pool of one keeps it");
    let all: HealthFilter = build(json!({"maxEjectedPercent": 100}));
    assert_eq!(verdicts(&all, &Request::default(), &alone, &known), "-");
    let never: HealthFilter = build(json!({"consecutiveFailures": 0, "maxEjectedPercent": 100}));
    assert_eq!(verdicts(&never, &Request::default(), &alone, &known), "k");
    assert_eq!((never.watches_failures(), filter.watches_failures()), (false, true));
    assert_eq!(filter.strength(), Strength::Health);
    let error = try_build::<HealthFilter>(json!({"maxEjectedPercent": 101})).expect_err("range");
    assert!(error.contains("maxEjectedPercent"), "{error}");
}

#[test]
fn a_cached_prefix_is_preferred_until_it_costs_too_much_time() {
    let nothing = pool("x", &[None, None, None]);
    let cached = |percent: &[u32], tokens: &[u64]| Known {
        tokens: tokens.iter().copied().map(Some).collect(),
        ..Known::cached(&percent.iter().copied().map(Some).collect::<Vec<_>>(), 100, 16)
    };
    for (parameters, percent, tokens, want) in [
        (json!({}), [90, 85, 10], [0, 0, 0], "kk-"),
        (json!({"affinityThreshold": 0}), [90, 85, 10], [0, 0, 0], "kkk"),
        (json!({}), [79, 10, 0], [0, 0, 0], "kkk"),
        (json!({"explorationProbability": 1}), [90, 85, 10], [0, 0, 0], "kkk"),
        (
            json!({"maxTTFTPenaltyMs": 100, "peakPrefillThroughput": 1000}),
            [90, 85, 10],
            [500, 500, 50],
            "kkk",
        ),
        (
            json!({"maxTTFTPenaltyMs": 1000, "peakPrefillThroughput": 1000}),
            [90, 85, 10],
            [500, 500, 50],
            "kk-",
        ),
        (json!({"maxTTFTPenaltyMs": 0, "peakPrefillThroughput": 1000}), [90, 85, 10], [5000, 5000, 0], "kk-"),
    ] {
        let filter: PrefixCacheAffinityFilter = build(parameters.clone());
        assert_eq!(
            verdicts(&filter, &Request::default(), &nothing, &cached(&percent, &tokens)),
            want,
            "{parameters} {percent:?} {tokens:?}"
        );
    }
    let filter: PrefixCacheAffinityFilter = build(json!({}));
    let one = pool("x", &[None]);
    assert_eq!(verdicts(&filter, &Request::default(), &one, &cached(&[0], &[0])), "k");
    assert_eq!(verdicts(&filter, &Request::default(), &nothing, &Known::default()), "kkk");
    for (bad, part) in [
        (json!({"affinityThreshold": 1.5}), "affinityThreshold"),
        (json!({"explorationProbability": -0.1}), "explorationProbability"),
        (json!({"maxTTFTPenaltyMs": -1}), "maxTTFTPenaltyMs"),
        (json!({"peakPrefillThroughput": 0}), "peakPrefillThroughput"),
        (json!({"peakPrefillThroughput": -1}), "peakPrefillThroughput"),
        (json!({"ttftSource": "bogus"}), "ttftSource"),
    ] {
        let error = try_build::<PrefixCacheAffinityFilter>(bad).expect_err("invalid");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_session_keeps_its_endpoint_while_that_may_serve() {
    let snapshot = pool("x", &[None, None, None]);
    let filter: SessionAffinityFilter = build(json!({"strategy": "session_id"}));
    let known = Known {
        sessions: [("alice", "10.0.0.2:8000"), ("bob", "10.9.9.9:8000")]
            .map(|(id, address)| (id.to_owned(), address.to_owned()))
            .into(),
        ..Known::default()
    };
    for (id, want) in [("alice", "-k-"), (" alice ", "-k-"), ("bob", "kkk"), ("carol", "kkk"), (" ", "kkk")] {
        assert_eq!(verdicts(&filter, &request_with("x-session-id", id), &snapshot, &known), want, "{id:?}");
    }
    assert_eq!(verdicts(&filter, &Request::default(), &snapshot, &known), "kkk");
    let request = request_with("x-session-id", "alice");
    let without = filter.judge(&context(&request, &snapshot, &known), &[0, 2]);
    assert_eq!(without, [Verdict::Keep, Verdict::Keep], "an endpoint that was excluded holds nobody back");
    assert!(filter.judge(&context(&request, &snapshot, &known), &[]).is_empty());
}

#[test]
fn a_session_moves_only_when_its_endpoint_may_not_serve() {
    let snapshot = pool("x", &[None, None]);
    let filter: SessionAffinityFilter = build(json!({"strategy": "session_id"}));
    let request = request_with("x-session-id", "alice");
    let pinned = [("alice".to_owned(), "10.0.0.2:8000".to_owned())].into();
    let known = Known { sessions: pinned, ..Known::default() };
    for (could_serve, want) in [(true, "10.0.0.2:8000"), (false, "10.0.0.1:8000")] {
        let could = |_: usize| could_serve;
        let picked = Picked { profile: "default", primary: true, choice: 0, could_serve: &could };
        let effects = filter.effects(&context(&request, &snapshot, &known), &picked);
        let [Effect::Pin { address, session, ttl }] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((address.as_str(), session.as_str()), (want, "alice"));
        assert_eq!(*ttl, Span::from_secs(300));
    }
}

#[test]
fn readings_that_cannot_be_believed_are_undecided_for_every_filter_of_attributes() {
    let unusable = [None, Some((0.0, 3_600_000)), Some((0.0, 10))];
    let gpu: GpuUtilizationFilter = build(json!({"maxPercent": 90}));
    assert_eq!(
        verdicts(&gpu, &Request::default(), &pool("GPUUtilization", &unusable), &Known::default()),
        "??k"
    );
    let future = {
        let mut row = sample(0.0, 0).expect("a number");
        row.measured_at = headroom_datalayer::Timestamp::from_millis(9_000_000);
        Snapshot::new(
            "test".into(),
            1,
            crate::testing::NOW,
            vec![crate::testing::endpoint(1, &[])],
            vec!["GPUUtilization".into()],
            vec![vec![Some(row)]],
        )
    };
    assert_eq!(verdicts(&gpu, &Request::default(), &future, &Known::default()), "?");
}

#[test]
fn grounds_name_the_endpoints_own_value() {
    let snapshot = measured("Ready", &[Some(1.0)]);
    let health: HealthFilter = build(json!({}));
    let affinity: PrefixCacheAffinityFilter = build(json!({}));
    let cached = Known {
        prefix: vec![Some(PrefixMatch { matched_blocks: 3, total_blocks: 4, block_tokens: 16 })],
        ..Known::default()
    };
    with(&snapshot, &cached, |cx| {
        assert_eq!(health.grounds(cx, 0), "Ready 1, 10ms old, 0 failures in a row");
        assert_eq!(affinity.grounds(cx, 0), "3 of 4 blocks cached");
        assert_eq!(affinity.grounds(cx, 7), "nothing known of its cache");
    });
}
