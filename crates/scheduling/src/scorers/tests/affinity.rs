//! Scorers of what this proxy or the engine remembers: tokens, prefixes, adapters, sessions, places.

use headroom_datalayer::{Snapshot, Timestamp};
use serde_json::json;

use super::super::*;
use crate::testing::{Known, build, context, labeled, names, pool, request_with, table, try_build, with};
use crate::{ContextLengthAware, Effect, Picked, Plugin, Request, Scorer};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn scores(scorer: &dyn Scorer, request: &Request, snapshot: &Snapshot, known: &Known) -> Vec<f64> {
    let candidates: Vec<usize> = (0..snapshot.endpoints().len()).collect();
    let opinions = scorer.score(&context(request, snapshot, known), &candidates);
    opinions.into_iter().map(|opinion| (opinion.score.get() * 1e5).round() / 1e5).collect()
}

fn endpoints(count: usize) -> Snapshot {
    pool("x", &vec![None; count])
}

fn fails<S: Plugin>(parameters: serde_json::Value, part: &str) {
    let error = try_build::<S>(parameters).map(|_| ()).expect_err("invalid");
    assert!(error.contains(part), "{error}");
}

#[test]
fn waiting_requests_score_against_a_fixed_number() {
    let waiting = |values: &[Option<f64>]| {
        let fresh: Vec<_> = values.iter().map(|value| value.map(|value| (value, 10))).collect();
        pool("WaitingQueueSize", &fresh)
    };
    let scorer: LoadAwareScorer = build(json!({"threshold": 10}));
    let got =
        |values: &[Option<f64>]| scores(&scorer, &Request::default(), &waiting(values), &Known::default());
    assert_eq!(got(&[Some(2.0), Some(0.0), Some(15.0)]), [0.4, 0.5, 0.0]);
    assert_eq!(got(&[None, Some(0.0)]), [0.0, 0.5], "what is not known is not idle");
    fails::<LoadAwareScorer>(json!({"threshold": 0}), "threshold");
}

#[test]
fn tokens_to_compute_score_against_a_fixed_number() {
    let scorer: TokenLoadScorer = build(json!({"queueThresholdTokens": 1000}));
    let in_flight =
        |tokens: &[u64]| Known { tokens: tokens.iter().copied().map(Some).collect(), ..Known::default() };
    let prompt = |tokens| Request { input_tokens: Some(tokens), ..Request::default() };
    let pool = endpoints(3);
    assert_eq!(scores(&scorer, &prompt(0), &pool, &in_flight(&[0, 500, 1000])), [1.0, 0.5, 0.0]);
    assert_eq!(scores(&scorer, &prompt(250), &pool, &in_flight(&[0, 250, 750])), [0.75, 0.5, 0.0]);
    assert_eq!(scores(&scorer, &Request::default(), &pool, &Known::default()), [1.0, 1.0, 1.0]);
    let cached = Known { tokens: vec![Some(0); 3], ..Known::cached(&[Some(10), Some(2), None], 10, 25) };
    assert_eq!(
        scores(&scorer, &prompt(250), &pool, &cached),
        [1.0, 0.8, 0.75],
        "cached tokens need no computing"
    );
    let huge = in_flight(&[u64::MAX, 0, 0]);
    assert_eq!(scores(&scorer, &prompt(u64::MAX), &pool, &huge), [0.0, 0.0, 0.0]);
    fails::<TokenLoadScorer>(json!({"queueThresholdTokens": 0}), "queueThresholdTokens");
}

#[test]
fn cached_prefixes_score_by_share_and_length() {
    let pool = endpoints(3);
    let plain: PrefixCacheScorer = build(json!({}));
    let of_ten = Known::cached(&[Some(5), Some(2), None], 10, 16);
    assert_eq!(scores(&plain, &Request::default(), &pool, &of_ten), [0.5, 0.2, 0.0]);
    let long: PrefixCacheScorer = build(json!({"matchLengthWeight": 0.5, "matchLengthScaleTokens": 100}));
    let five = Known::cached(&[Some(5), Some(10), Some(0)], 10, 1);
    assert_eq!(scores(&long, &Request::default(), &pool, &five), [0.251_25, 0.505, 0.0]);
    let fifty = Known::cached(&[Some(50), Some(100), Some(0)], 100, 1);
    assert_eq!(scores(&long, &Request::default(), &pool, &fifty), [0.375, 1.0, 0.0]);
    let more_than_all = Known::cached(&[Some(11), None, None], 10, 1);
    assert_eq!(scores(&plain, &Request::default(), &pool, &more_than_all), [1.0, 0.0, 0.0]);
    let no_blocks = Known::cached(&[Some(0), None, None], 0, 16);
    assert_eq!(scores(&plain, &Request::default(), &pool, &no_blocks), [0.0, 0.0, 0.0]);
    fails::<PrefixCacheScorer>(json!({"matchLengthWeight": -0.1}), "matchLengthWeight");
    fails::<PrefixCacheScorer>(json!({"matchLengthWeight": 1.1}), "matchLengthWeight");
    fails::<PrefixCacheScorer>(json!({"matchLengthScaleTokens": 0}), "matchLengthScaleTokens");
}

#[test]
fn an_adapter_scores_by_where_it_is_or_fits() {
    let scorer: LoraAffinityScorer = build(json!({}));
    let asks = Request { model: Some("tutor".into()), ..Request::default() };
    let engines = |rows: &[(&[&str], &[&str], Option<f64>)]| {
        let row = |(active, waiting, max): &(&[&str], &[&str], Option<f64>)| {
            vec![names(active), names(waiting), max.and_then(headroom_datalayer::Value::number)]
        };
        table(&["ActiveModels", "WaitingModels", "MaxActiveModels"], rows.iter().map(row).collect())
    };
    for (active, waiting, max, want) in [
        (&["tutor"][..], &[][..], 5.0, 1.0),
        (&["tutor"], &[], 1.0, 1.0),
        (&["a"], &["tutor"], 5.0, 0.8),
        (&["a"], &[], 2.0, 0.8),
        (&["a", "b"], &["tutor"], 2.0, 0.6),
        (&["a", "b"], &[], 2.0, 0.0),
        (&["a"], &["b"], 2.0, 0.0),
        (&[], &[], 0.0, 0.0),
        (&[], &[], 1.0, 0.8),
    ] {
        let pool = engines(&[(active, waiting, Some(max))]);
        assert_eq!(scores(&scorer, &asks, &pool, &Known::default()), [want], "{active:?} {waiting:?} {max}");
    }
    let unknown = engines(&[(&["a"], &[], None), (&["tutor"], &[], None)]);
    assert_eq!(scores(&scorer, &asks, &unknown, &Known::default()), [0.0, 1.0]);
    assert_eq!(scores(&scorer, &asks, &endpoints(2), &Known::default()), [0.0, 0.0]);
    assert_eq!(scores(&scorer, &Request::default(), &unknown, &Known::default()), [0.0, 0.0]);
    assert!(scores(&scorer, &asks, &endpoints(0), &Known::default()).is_empty());
}

#[test]
fn cold_requests_rotate_over_the_endpoints() {
    let scorer: NoHitLruScorer = build(json!({}));
    let pool = endpoints(3);
    let at = |ms: u64| Some(Timestamp::from_millis(ms));
    let used = |picks: &[Option<Timestamp>]| Known { cold_picks: picks.to_vec(), ..Known::default() };
    let got = |known: &Known| scores(&scorer, &Request::default(), &pool, known);
    assert_eq!(got(&used(&[])), [1.0, 0.5, 0.0]);
    assert_eq!(got(&used(&[at(1)])), [0.0, 1.0, 0.5]);
    assert_eq!(got(&used(&[at(1), at(2)])), [0.5, 0.0, 1.0]);
    assert_eq!(got(&used(&[at(1), at(2), at(3)])), [1.0, 0.5, 0.0]);
    assert_eq!(got(&used(&[at(4), at(2), at(3)])), [0.0, 1.0, 0.5], "A, then B, then C, then A again");
    assert_eq!(got(&Known::cached(&[None, Some(1), None], 10, 16)), [0.5, 0.5, 0.5]);
    assert_eq!(scores(&scorer, &Request::default(), &endpoints(1), &used(&[])), [1.0]);
    assert!(scores(&scorer, &Request::default(), &endpoints(0), &used(&[])).is_empty());
    let short: NoHitLruScorer = build(json!({"lruSize": 1}));
    let known = used(&[at(1), at(2)]);
    assert_eq!(
        scores(&short, &Request::default(), &pool, &known),
        [1.0, 0.0, 0.5],
        "what does not fit the memory is never used"
    );
    fails::<NoHitLruScorer>(json!({"lruSize": 0}), "lruSize");
}

#[test]
fn only_cold_requests_are_remembered_where_they_are_computed() {
    let scorer: NoHitLruScorer = build(json!({}));
    let pool = endpoints(2);
    let effects = |known: &Known, profile: &str, primary: bool, could: bool| {
        let could_serve = |_: usize| could;
        let picked = Picked { profile, primary, choice: 1, could_serve: &could_serve };
        with(&pool, known, |cx| scorer.effects(cx, &picked))
    };
    let cold = Known::default();
    let warm = Known::cached(&[Some(1), None], 10, 16);
    let [Effect::ColdPick { address }] = &effects(&cold, "default", true, true)[..] else { panic!() };
    assert_eq!(address.as_str(), "10.0.0.2:8000");
    assert_eq!(effects(&cold, "prefill", false, true).len(), 1);
    assert!(effects(&cold, "encode", false, true).is_empty());
    assert!(effects(&warm, "default", true, true).is_empty());
    assert_eq!(effects(&warm, "default", true, false).len(), 1, "who may not serve keeps nobody warm");
}

#[test]
fn a_label_that_is_the_headers_value_is_preferred() {
    let scorer: HeaderLabelAffinityScorer = build(json!({"headerName": "X-Slice", "labelKey": "slice"}));
    let pool = labeled(&[&[("slice", "slice-a")], &[("slice", "slice-b")], &[("other", "slice-a")], &[]]);
    let got = |request: &Request| scores(&scorer, request, &pool, &Known::default());
    assert_eq!(got(&request_with("x-slice", "slice-a")), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(got(&request_with("x-slice", "slice-z")), [0.0; 4]);
    assert_eq!(got(&request_with("x-slice", " ")), [0.0; 4]);
    assert_eq!(got(&Request::default()), [0.0; 4]);
    assert_eq!(scorer.headers(), ["x-slice"]);
    fails::<HeaderLabelAffinityScorer>(json!({"headerName": "", "labelKey": "x"}), "headerName");
    fails::<HeaderLabelAffinityScorer>(json!({"headerName": "x"}), "labelKey");
}

#[test]
fn nearer_to_the_earlier_stage_is_better() {
    const HOST: &str = "kubernetes.io/hostname";
    const RACK: &str = "topology.kubernetes.io/rack";
    const ZONE: &str = "topology.kubernetes.io/zone";
    const REGION: &str = "topology.kubernetes.io/region";
    let pool = labeled(&[
        &[(HOST, "h1"), (RACK, "r1"), (ZONE, "z1"), (REGION, "g1")],
        &[(HOST, "h2"), (RACK, "r1"), (ZONE, "z1"), (REGION, "g1")],
        &[(HOST, "h3"), (RACK, "r2"), (ZONE, "z1"), (REGION, "g1")],
        &[(HOST, "h4"), (RACK, "r3"), (ZONE, "z2"), (REGION, "g1")],
        &[(HOST, "h5"), (RACK, "r4"), (ZONE, "z3"), (REGION, "g2")],
        &[(RACK, "r1")],
        &[],
    ]);
    let scorer: TopologyAffinityScorer = build(json!({}));
    let (request, known) = (Request::default(), Known::default());
    let near = |peer: Option<usize>| -> Vec<f64> {
        let cx = crate::Context { peer, ..context(&request, &pool, &known) };
        scorer.score(&cx, &[0, 1, 2, 3, 4, 5, 6]).iter().map(|opinion| opinion.score.get()).collect()
    };
    assert_eq!(near(Some(0)), [1.0, 0.2, 0.05, 0.02, 0.0, 0.2, 0.0]);
    assert_eq!(near(Some(6)), [0.0; 7]);
    assert_eq!(near(None), [0.0; 7]);
}

#[test]
fn a_session_scores_where_it_is_pinned() {
    let scorer: SessionAffinityScorer = build(json!({"strategy": "session_id"}));
    let known =
        Known { sessions: [("alice".to_owned(), "10.0.0.2:8000".to_owned())].into(), ..Known::default() };
    let pool = endpoints(2);
    assert_eq!(scores(&scorer, &request_with("x-session-id", "alice"), &pool, &known), [0.0, 1.0]);
    assert_eq!(scores(&scorer, &request_with("x-session-id", "bob"), &pool, &known), [0.0, 0.0]);
}

#[test]
fn context_lengths_score_as_by_llm_d() {
    let label = "llm-d.ai/context-length-range";
    let scorer: ContextLengthAware = build(json!({}));
    let score = |tokens: u64, range: &str| {
        let request = Request { input_tokens: Some(tokens), ..Request::default() };
        scores(&scorer, &request, &labeled(&[&[(label, range)]]), &Known::default())[0]
    };
    assert!(score(0, "0-20") > score(0, "0-10000") && score(0, "0-10000") > 0.3);
    assert!(score(9_000, "0-2048") < score(9_000, "0-8192") && score(9_000, "0-8192") < 0.3);
    assert!(score(50, "500-2048") < score(50, "100-1024"));
    assert!(score(14_999, "0-15000") > 0.3 && score(14_999, "15001-20000") < 0.3);
    for bad in ["", "0-100-200", "100-50", "abc-100", "0-99999999999999999999999"] {
        assert!(score(50, bad).abs() < f64::EPSILON, "{bad}");
    }
    assert!((score(5, "5-5") - 1.0).abs() < f64::EPSILON);
    assert_eq!(scores(&scorer, &Request::default(), &endpoints(1), &Known::default()), [0.5]);
}
