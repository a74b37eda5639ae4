use headroom_datalayer::Snapshot;
use serde_json::json;

use super::*;
use crate::Request;
use crate::testing::{Known, context, endpoint, pool, request_with};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn session(parameters: serde_json::Value) -> Session {
    Session::new(serde_json::from_value(parameters).expect("parses")).expect("valid")
}

fn endpoints(numbers: &[usize]) -> Snapshot {
    let endpoints: Vec<_> = numbers.iter().map(|n| endpoint(*n, &[])).collect();
    let rows = vec![Vec::new(); endpoints.len()];
    Snapshot::new("test".into(), 1, crate::testing::NOW, endpoints, Vec::new(), rows)
}

fn proxy(key: &str) -> Known {
    Known { token_key: Some(key.as_bytes().to_vec()), ..Known::default() }
}

/// The token that a client gets after its request went to `choice`.
fn token(session: &Session, snapshot: &Snapshot, known: &Known, choice: usize) -> String {
    let request = Request::default();
    let picked = Picked { profile: "default", primary: true, choice, could_serve: &|_| true };
    match session.effects(&context(&request, snapshot, known), &picked).as_slice() {
        [Effect::ResponseHeader { name, value }] if name == "x-session-token" => value.clone(),
        other => panic!("{other:?}"),
    }
}

fn pinned(session: &Session, snapshot: &Snapshot, known: &Known, token: &str) -> Option<usize> {
    let request = request_with("x-session-token", token);
    session.pinned(&context(&request, snapshot, known))
}

#[test]
fn a_token_brings_the_client_back_and_a_changed_one_does_not() {
    let (session, snapshot, known) = (session(json!({})), pool("x", &[None, None, None]), proxy("key"));
    let token = token(&session, &snapshot, &known, 1);
    assert_eq!(pinned(&session, &snapshot, &known, &token), Some(1));
    for (index, letter) in token.char_indices() {
        let other = if letter == '0' { "1" } else { "0" };
        let mut forged = token.clone();
        forged.replace_range(index..=index, other);
        assert_eq!(pinned(&session, &snapshot, &known, &forged), None, "{index}");
    }
    let mut shorter = token.clone();
    while shorter.pop().is_some() {
        assert_eq!(pinned(&session, &snapshot, &known, &shorter), None, "{shorter}");
    }
    for garbage in ["garbage", "aGVsbG8=", "10.0.0.2:8000", "ééééééééééééééééé", &format!("{token}00")]
    {
        assert_eq!(pinned(&session, &snapshot, &known, garbage), None, "{garbage}");
    }
    assert!(!token.contains("10.0.0"), "the address is not told");
}

#[test]
fn a_token_is_good_where_its_key_is_known() {
    let snapshot = pool("x", &[None, None]);
    let own = session(json!({}));
    let mine = token(&own, &snapshot, &proxy("first"), 0);
    assert_eq!(pinned(&own, &snapshot, &proxy("second"), &mine), None, "another proxy's key");
    assert_eq!(pinned(&own, &snapshot, &Known::default(), &mine), None, "no key");
    let shared = session(json!({"signingKey": "sixteen-characters"}));
    let theirs = token(&shared, &snapshot, &proxy("first"), 0);
    assert_eq!(pinned(&shared, &snapshot, &proxy("second"), &theirs), Some(0));
    assert_eq!(pinned(&shared, &snapshot, &Known::default(), &mine), None);
    let other_pool = Snapshot::new(
        "other".into(),
        1,
        crate::testing::NOW,
        vec![endpoint(1, &[])],
        Vec::new(),
        vec![Vec::new()],
    );
    assert_eq!(pinned(&shared, &other_pool, &Known::default(), &theirs), None, "another pool's token");
}

#[test]
fn a_token_follows_the_address_and_not_the_place_in_the_list() {
    let (session, known) = (session(json!({})), proxy("key"));
    let token = token(&session, &endpoints(&[1, 2, 3]), &known, 1);
    assert_eq!(pinned(&session, &endpoints(&[2, 3]), &known, &token), Some(0));
    assert_eq!(pinned(&session, &endpoints(&[1, 3]), &known, &token), None, "the endpoint is gone");
}

#[test]
fn the_first_header_that_has_an_id_counts() {
    let session = session(json!({"strategy": "session_id",
        "sessionIdConfig": {"sources": [{"header": "X-A"}, {"header": "x-b"}]}}));
    assert_eq!(session.headers(), ["x-a", "x-b"]);
    let snapshot = pool("x", &[None, None]);
    let known = Known {
        sessions: [("a", "10.0.0.1:8000"), ("b", "10.0.0.2:8000")]
            .map(|(id, address)| (id.to_owned(), address.to_owned()))
            .into(),
        ..Known::default()
    };
    let both = |a: &str, b: &str| {
        let headers = [("x-a", a), ("x-b", b)].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let request = Request { headers, ..Request::default() };
        session.pinned(&context(&request, &snapshot, &known))
    };
    assert_eq!(both("a", "b"), Some(0));
    assert_eq!(both(" ", "b"), Some(1));
    assert_eq!(both("nobody", "b"), None, "an id that is not pinned is an id all the same");
}

#[test]
fn only_the_named_profile_pins() {
    let snapshot = pool("x", &[None, None]);
    let request = request_with("x-session-id", "alice");
    let known = Known::default();
    let effects = |parameters: serde_json::Value, profile: &str, primary: bool| {
        let picked = Picked { profile, primary, choice: 0, could_serve: &|_| true };
        session(parameters).effects(&context(&request, &snapshot, &known), &picked).len()
    };
    let by = |name: &str| json!({"strategy": "session_id", "profileName": name});
    assert_eq!(effects(by(""), "decode", true), 1);
    assert_eq!(effects(by(""), "prefill", false), 0);
    assert_eq!(effects(by("prefill"), "prefill", false), 1);
    assert_eq!(effects(by("prefill"), "decode", true), 0);
    let none = Request::default();
    let picked = Picked { profile: "decode", primary: true, choice: 0, could_serve: &|_| true };
    assert!(session(by("")).effects(&context(&none, &snapshot, &known), &picked).is_empty());
}

#[test]
fn parameters_are_checked_and_keys_never_shown() {
    for (parameters, part) in [
        (json!({"signingKey": "hunter2"}), "signingKey"),
        (json!({"sessionIdConfig": {"evictionTtlSeconds": 0}}), "evictionTtlSeconds"),
        (json!({"sessionIdConfig": {"evictionTtlSeconds": -1}}), "evictionTtlSeconds"),
        (json!({"sessionIdConfig": {"evictionTtlSeconds": 1e9}}), "evictionTtlSeconds"),
        (json!({"sessionIdConfig": {"sources": []}}), "sessionIdConfig.sources"),
        (json!({"sessionIdConfig": {"sources": [{"header": "a b"}]}}), "sources[0].header"),
        (json!({"encodedEndpointHeaderConfig": {"header": ""}}), "encodedEndpointHeaderConfig.header"),
    ] {
        let params = serde_json::from_value(parameters.clone()).expect("parses");
        let error = format!("{:?}", Session::new(params).map(|_| ()).expect_err("invalid"));
        assert!(error.contains(part) && !error.contains("hunter2"), "{parameters}: {error}");
    }
}
