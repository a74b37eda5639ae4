//! What follows from a choice beside the destination: headers, pins, marks; and who is left out by them.

use super::*;

fn with_header(name: &str, value: &str) -> Head<'static> {
    Head { headers: BTreeMap::from([(name.to_owned(), value.to_owned())]), ..chat(20) }
}

/// Sends a request with these headers; gives what the adapter is to do.
fn send(world: &mut World, head: Head<'_>) -> (Exchange, Action) {
    let mut exchange = world.exchange();
    assert_eq!(exchange.on_request_headers(head, &mut world.env()), Action::AwaitBody);
    let action = exchange.on_request_body(br#"{"model":"m"}"#, &mut world.env());
    (exchange, action)
}

fn choice(action: &Action) -> &str {
    match action {
        Action::Send { destination, .. } => destination.split(',').next().unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

fn affinity(strategy: &str) -> serde_json::Value {
    json!({"name": "p", "scorers": [{"type": "queue-scorer"}, {"type": "session-affinity-scorer", "weight": 9, "strategy": strategy}]})
}

#[test]
fn a_session_token_is_given_out_by_the_choice_only_and_leads_back_to_it() {
    let mut world = World::new(&affinity("encoded_endpoint_header")).fed();
    assert_eq!(world.exchange().headers(), ["x-session-token"]);
    let (mut exchange, _) = send(&mut world, chat(20));
    let headers = exchange.on_response_headers(&ok("10.0.0.2:8000"), &mut world.env());
    let [(name, token)] = headers.as_slice() else { panic!("one header, not {headers:?}") };
    assert_eq!(name, "x-session-token");
    // Its queue has grown since, and the token still leads there.
    for _ in 0..9 {
        let (busy, action) = send(&mut world, with_header("x-session-token", token));
        assert_eq!(choice(&action), "10.0.0.2:8000");
        std::mem::forget(busy);
    }
    let (mut retried, _) = send(&mut world, chat(20));
    let elsewhere = if retried.attempts.choice() == Some(&address(1)) { 2 } else { 1 };
    let elsewhere = address(elsewhere).to_string();
    assert_eq!(retried.on_response_headers(&ok(&elsewhere), &mut world.env()), [], "it names the choice");
}

#[test]
fn a_session_id_is_pinned_in_shared_data() {
    let mut world = World::new(&affinity("session_id")).fed();
    let (_first, action) = send(&mut world, with_header("x-session-id", "s"));
    let pinned = choice(&action).to_owned();
    // Another worker knows of it.
    let mut other =
        World { shared: std::mem::take(&mut world.shared), ..World::new(&affinity("session_id")) };
    for _ in 0..9 {
        let (busy, action) = send(&mut other, with_header("x-session-id", "s"));
        assert_eq!(choice(&action), pinned);
        std::mem::forget(busy);
    }
}

#[test]
fn an_endpoint_that_fails_again_and_again_is_left_out_until_it_answers_well() {
    let mut world = World::new(&json!({"name": "p", "scorers": [{"type": "queue-scorer"}],
        "filters": [{"type": "health-filter", "consecutiveFailures": 2}]}))
    .fed();
    for _ in 0..2 {
        let (mut exchange, action) = send(&mut world, chat(20));
        assert_eq!(choice(&action), "10.0.0.2:8000");
        exchange
            .on_response_headers(&Response { status: Some(502), ..ok("10.0.0.2:8000") }, &mut world.env());
        exchange.on_end(false, &world.env());
    }
    let (exchange, action) = send(&mut world, chat(20));
    assert_eq!(choice(&action), "10.0.0.1:8000");
    assert!(exchange.decision_for_log().expect("explained").contains("health-filter"));
    assert_eq!(world.stats.get("headroom_endpoint_failures_total.pool=p.endpoint=10_0_0_2:8000"), 2);
    // What was sent there before is answered: it works again.
    let mut late = world.exchange();
    late.attempts = Attempts::new(vec![address(2)]);
    late.on_response_headers(&ok("10.0.0.2:8000"), &mut world.env());
    late.on_end(false, &world.env());
    let (_last, action) = send(&mut world, chat(20));
    assert_eq!(choice(&action), "10.0.0.2:8000");
}

#[test]
fn with_everybody_unhealthy_none_is_available() {
    let mut world = World::new(&json!({"name": "p",
        "filters": [{"type": "health-filter", "consecutiveFailures": 1, "maxEjectedPercent": 100}]}))
    .fed();
    for n in [1, 2] {
        let (exchange, _) = send(&mut world, chat(20));
        exchange.failed(&address(n), &world.env());
    }
    let (_, action) = send(&mut world, chat(20));
    let Action::Reply(reply) = action else { panic!("{action:?}") };
    assert_eq!(reply.status, 503);
    assert!(reply.body.contains("headroom_none_available"), "{}", reply.body);
    assert_eq!(world.requests("none_available"), 1);
}

#[test]
fn over_a_strict_limit_the_pool_is_saturated() {
    let mut world = World::new(&json!({"name": "p", "filters": [{"type": "utilization-filter",
        "conditions": [{"metric": "waiting-queue", "maxValue": 0}]}]}))
    .fed();
    let (_, action) = send(&mut world, chat(20));
    let Action::Reply(reply) = action else { panic!("{action:?}") };
    assert_eq!(reply.status, 429);
    assert!(reply.headers.contains(&("x-llm-d-request-dropped-reason", "rejected-saturated")));
    assert!(
        reply.body.contains("waiting-queue <= 0") || reply.body.contains("WaitingQueueSize <= 0"),
        "{}",
        reply.body
    );
    assert_eq!(world.requests("saturated"), 1);
}

/// Endpoint 1 prefills, endpoint 2 decodes.
fn stages(handler: &serde_json::Value) -> World {
    let role = |role: &str| json!({"type": "label-selector-filter", "name": role, "selector": format!("role={role}")});
    let profile = |name: &str| json!({"name": name, "plugins": [{"pluginRef": name}]});
    let mut world = World::new(&json!({"name": "p",
        "plugins": [role("prefill"), role("decode"), {"type": "always-disagg-pd-decider"}, handler],
        "schedulingProfiles": [profile("prefill"), profile("decode")]}));
    world.labels = vec![("role", "prefill"), ("role", "decode")];
    world.fed()
}

#[test]
fn the_prefill_endpoint_is_named_to_the_one_that_decodes() {
    let mut world = stages(&json!({"type": "disagg-profile-handler",
        "parameters": {"deciders": {"prefill": "always-disagg-pd-decider"}}}));
    let (_exchange, action) = send(&mut world, chat(20));
    let Action::Send { destination, headers } = action else { panic!("{action:?}") };
    assert!(destination.split(',').all(|address| address == "10.0.0.2:8000"), "{destination}");
    assert_eq!(headers, [("x-prefiller-host-port".to_owned(), "10.0.0.1:8000".to_owned())]);
}

#[test]
fn a_header_names_the_profile_and_an_unknown_one_is_the_clients_fault() {
    let mut world =
        stages(&json!({"type": "header-profile-handler", "parameters": {"defaultProfile": "decode"}}));
    assert_eq!(world.exchange().headers(), ["epp-profile"]);
    for (head, want) in [
        (chat(20), "10.0.0.2:8000"),
        (with_header("epp-profile", "decode"), "10.0.0.2:8000"),
        (with_header("epp-profile", "prefill"), "10.0.0.1:8000"),
    ] {
        assert_eq!(choice(&send(&mut world, head).1), want);
    }
    let (_, action) = send(&mut world, with_header("epp-profile", "nobody's"));
    let Action::Reply(reply) = action else { panic!("{action:?}") };
    assert_eq!((reply.status, world.requests("no_profile")), (400, 1));
    assert!(reply.body.contains("prefill, decode"), "{}", reply.body);
}
