use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::filters::{Decode, Encode, Prefill, RoleFilter};
use crate::handlers::{DisaggProfileHandler, HeaderProfileHandler};
use crate::pickers::MaxScorePicker;
use crate::scorers::{SessionAffinityScorer, TopologyAffinityScorer};
use crate::testing::{Known, build, context, labeled, request_with, try_build_among};
use crate::{Detail, Explanation, Filter, NamedFilter, NamedScorer, Plugin, Request, Scorer};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn profile<F: Filter + Plugin + 'static>(name: &str, scorers: Vec<NamedScorer>) -> Profile {
    let filter = NamedFilter { name: F::TYPE.to_owned(), filter: Box::new(build::<F>(json!({}))) };
    Profile {
        name: name.to_owned(),
        filters: vec![filter],
        scorers,
        picker: Box::new(build::<MaxScorePicker>(json!({}))),
        exploration: 0.0,
    }
}

fn scorer<S: Scorer + Plugin + 'static>(parameters: serde_json::Value) -> NamedScorer {
    NamedScorer { name: S::TYPE.to_owned(), weight: 1.0, scorer: Box::new(build::<S>(parameters)) }
}

/// Decode, prefill near decode, encode.
fn disaggregated(parameters: serde_json::Value) -> Scheduler {
    let names = ["decode", "prefill", "encode"];
    let handler = try_build_among::<DisaggProfileHandler>(parameters, &names).expect("valid");
    Scheduler {
        profiles: vec![
            profile::<RoleFilter<Decode>>(
                "decode",
                vec![scorer::<SessionAffinityScorer>(json!({"strategy": "session_id"}))],
            ),
            profile::<RoleFilter<Prefill>>("prefill", vec![scorer::<TopologyAffinityScorer>(json!({}))]),
            profile::<RoleFilter<Encode>>("encode", vec![]),
        ],
        handler: Box::new(handler),
    }
}

fn headers(schedule: &Schedule) -> BTreeMap<&str, &str> {
    schedule
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::RequestHeader { name, value } => Some((name.as_str(), value.as_str())),
            Effect::ResponseHeader { .. } | Effect::Pin { .. } | Effect::ColdPick { .. } => None,
        })
        .collect()
}

const HOST: &str = "kubernetes.io/hostname";

#[test]
fn a_long_prompt_is_prefilled_near_the_decode_endpoint_and_a_short_one_is_not() {
    let pool = labeled(&[
        &[("llm-d.ai/role", "prefill"), (HOST, "b")],
        &[("llm-d.ai/role", "decode"), (HOST, "a")],
        &[("llm-d.ai/role", "prefill"), (HOST, "a")],
        &[("llm-d.ai/role", "encode")],
    ]);
    let scheduler =
        disaggregated(json!({"deciders": {"prefill": "from-five-tokens", "encode": "multimodal"}}));
    let known = Known::default();
    for (tokens, multimodal, want) in [
        (4, false, vec![]),
        (5, false, vec![("x-prefiller-host-port", "10.0.0.3:8000")]),
        (4, true, vec![("x-encoder-hosts-ports", "10.0.0.4:8000")]),
        (
            9,
            true,
            vec![("x-encoder-hosts-ports", "10.0.0.4:8000"), ("x-prefiller-host-port", "10.0.0.3:8000")],
        ),
    ] {
        let request = Request { input_tokens: Some(tokens), multimodal, ..Request::default() };
        let schedule = scheduler.schedule(&context(&request, &pool, &known));
        assert_eq!(schedule.choice(), Some(1));
        assert_eq!(headers(&schedule).into_iter().collect::<Vec<_>>(), want, "{tokens} {multimodal}");
        assert_eq!(schedule.runs.len(), 1 + want.len());
    }
}

#[test]
fn a_stage_that_finds_nobody_is_left_out_and_told() {
    let pool = labeled(&[&[("llm-d.ai/role", "decode")]]);
    let scheduler = disaggregated(json!({"deciders": {"prefill": "from-five-tokens"}}));
    let (request, known) = (Request { input_tokens: Some(9), ..Request::default() }, Known::default());
    let cx = context(&request, &pool, &known);
    let schedule = scheduler.schedule(&cx);
    assert_eq!((schedule.choice(), headers(&schedule).len()), (Some(0), 0));
    let words = Explanation::new(&schedule, &scheduler, &cx, Detail::FULL).to_string();
    assert!(words.contains("Stage prefill: left out, no endpoint with llm-d.ai/role in"), "{words}");
    assert_eq!(words.matches("Stage").count(), 1, "{words}");
}

#[test]
fn without_a_decode_endpoint_the_request_is_rejected_whatever_the_other_stages_found() {
    let pool = labeled(&[&[("llm-d.ai/role", "prefill")]]);
    for parameters in
        [json!({"deciders": {"prefill": "from-five-tokens"}}), json!({"stageOrder": "prefill-first"})]
    {
        let (request, known) = (Request { input_tokens: Some(9), ..Request::default() }, Known::default());
        let schedule = disaggregated(parameters).schedule(&context(&request, &pool, &known));
        let Outcome::Rejected { rejection, .. } = &schedule.outcome else { panic!("{:?}", schedule.outcome) };
        assert_eq!(*rejection, Rejection::NoneCapable { filter: 0 });
        assert!(schedule.effects.is_empty());
    }
}

#[test]
fn with_prefill_first_decode_is_placed_last_and_both_are_named() {
    let pool = labeled(&[&[("llm-d.ai/role", "prefill")], &[("llm-d.ai/role", "decode")]]);
    let (request, known) = (Request::default(), Known::default());
    let scheduler = disaggregated(json!({"stageOrder": "PrefillFirst"}));
    let schedule = scheduler.schedule(&context(&request, &pool, &known));
    assert_eq!(schedule.runs.iter().map(|run| run.profile).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(schedule.choice(), Some(1));
    assert_eq!(headers(&schedule), BTreeMap::from([("x-prefiller-host-port", "10.0.0.1:8000")]));
}

#[test]
fn a_header_names_the_profile_and_an_unknown_name_is_the_clients_error() {
    let names = ["decode", "prefill"];
    let handler = try_build_among::<HeaderProfileHandler>(json!({}), &names).expect("valid");
    let profiles = vec![
        profile::<RoleFilter<Decode>>("decode", vec![]),
        profile::<RoleFilter<Prefill>>("prefill", vec![]),
    ];
    let scheduler = Scheduler { profiles, handler: Box::new(handler) };
    let pool = labeled(&[&[("llm-d.ai/role", "prefill")], &[("llm-d.ai/role", "decode")]]);
    let known = Known::default();
    for (value, want) in [("", Some(1)), (" prefill ", Some(0)), ("decode", Some(1)), ("Prefill", None)] {
        let request = request_with("epp-profile", value);
        let schedule = scheduler.schedule(&context(&request, &pool, &known));
        assert_eq!(schedule.choice(), want, "{value:?}");
        if want.is_none() {
            let Outcome::NoProfile { reason } = &schedule.outcome else { panic!("{:?}", schedule.outcome) };
            assert!(
                reason.contains("epp-profile is \"Prefill\"") && reason.contains("decode, prefill"),
                "{reason}"
            );
        }
    }
    assert_eq!(scheduler.headers(), ["epp-profile"]);
}

#[test]
fn a_session_is_pinned_to_the_endpoint_that_the_request_is_sent_to() {
    let pool = labeled(&[&[("llm-d.ai/role", "prefill")], &[("llm-d.ai/role", "decode")]]);
    let scheduler = disaggregated(json!({"stageOrder": "prefill-first"}));
    let (request, known) = (request_with("x-session-id", "alice"), Known::default());
    let schedule = scheduler.schedule(&context(&request, &pool, &known));
    let pins: Vec<&str> = schedule
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Pin { session, address, .. } => Some((session, address.as_str())),
            _ => None,
        })
        .map(|(session, address)| {
            assert_eq!(session, "alice");
            address
        })
        .collect();
    assert_eq!(pins, ["10.0.0.2:8000"]);
}
