use headroom_datalayer::{Endpoint, PoolState, Sample, Update, Value};
use headroom_wire::shared::{PoolVersion, Shared};
use serde_json::json;

use super::*;
use crate::config::Config;
use crate::keys::PoolKeys;
use crate::testing::{FakeShared, FakeStats, address, endpoint};

mod effects;

const NOW: Timestamp = Timestamp::from_millis(50_000);

struct World {
    pools: Pools,
    workers: Workers,
    shared: FakeShared,
    stats: FakeStats,
    rng: fastrand::Rng,
    /// One an endpoint.
    labels: Vec<(&'static str, &'static str)>,
}

impl World {
    fn new(pool: &serde_json::Value) -> Self {
        let config = json!({"feed": {"cluster": "c"}, "pools": [pool]}).to_string();
        let workers = Workers::new(1);
        Self {
            pools: Pools::new(Config::parse(config.as_bytes()).expect("valid"), &workers.inflight),
            workers,
            shared: FakeShared::default(),
            stats: FakeStats::default(),
            rng: fastrand::Rng::with_seed(3),
            labels: Vec::new(),
        }
    }

    /// Two endpoints with queues of 5 and 1.
    fn fed(self) -> Self {
        let queue = |n: usize, waiting: f64| {
            let sample = Value::number(waiting).map(|value| Sample { value, measured_at: NOW });
            (address(n), "WaitingQueueSize".to_owned(), sample)
        };
        let labeled = |n: usize| {
            let label = self.labels.get(n - 1).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            Endpoint { labels: label.into_iter().collect(), ..endpoint(n) }
        };
        let mut state = PoolState::default();
        state.apply(Update {
            upserted: vec![labeled(1), labeled(2)],
            samples: vec![queue(1, 5.0), queue(2, 1.0)],
            ..Update::default()
        });
        let keys = PoolKeys::new("c", "p");
        let version =
            PoolVersion { catalog: state.catalog_version(), samples: 1, written_at_us: NOW.as_micros() };
        for (key, bytes) in [
            (keys.catalog, state.catalog().encode()),
            (keys.samples, state.samples().encode()),
            (keys.version, version.encode()),
        ] {
            self.shared.set(&key, &bytes, None).expect("unconditional");
        }
        self
    }

    fn exchange(&self) -> Exchange {
        Exchange::of(&self.pools, "p").expect("a pool")
    }

    fn env(&mut self) -> Env<'_> {
        Env {
            shared: &self.shared,
            stats: &self.stats,
            workers: &self.workers,
            now: NOW,
            rng: &mut self.rng,
            secret: b"secret",
        }
    }

    fn requests(&self, outcome: &str) -> i64 {
        self.stats.get(&format!("headroom_requests_total.pool=p.outcome={outcome}"))
    }
}

fn chat(length: u64) -> Head<'static> {
    Head { method: "POST", path: "/v1/chat/completions", content_length: Some(length), ..Head::default() }
}

fn ok(upstream: &str) -> Response<'_> {
    Response { upstream: Some(upstream), status: Some(200) }
}

fn status(action: &Action) -> u32 {
    match action {
        Action::Reply(reply) => reply.status,
        _ => 0,
    }
}

#[test]
fn a_request_goes_to_the_shortest_queue_and_is_counted_until_it_ends() {
    let mut world = World::new(&json!({"name": "p", "scorers": [{"type": "queue-scorer"}]})).fed();
    let mut exchange = world.exchange();
    assert_eq!(exchange.on_request_headers(chat(20), &mut world.env()), Action::AwaitBody);
    let action = exchange.on_request_body(br#"{"model":"m"}"#, &mut world.env());
    let list = "10.0.0.2:8000,10.0.0.1:8000,10.0.0.2:8000,10.0.0.1:8000";
    assert_eq!(action, Action::Send { destination: list.to_owned(), headers: vec![] });
    assert_eq!(world.workers.inflight.requests("p", &address(2)), 1);
    let decision: Explanation =
        serde_json::from_str(exchange.decision_for_log().expect("shown")).expect("reads back");
    assert_eq!(decision.main.candidates.len(), 2);
    exchange.on_response_headers(&ok("10.0.0.2:8000"), &mut world.env());
    exchange.on_end(false, &world.env());
    exchange.on_end(false, &world.env());
    assert_eq!(world.workers.inflight.requests("p", &address(2)), 0);
    assert_eq!(world.requests("scheduled"), 1);
}

#[test]
fn the_endpoint_that_serves_after_a_retry_is_the_one_charged() {
    let mut world = World::new(&json!({"name": "p", "scorers": [{"type": "queue-scorer"}]})).fed();
    let mut exchange = world.exchange();
    exchange.on_request_body(br#"{"model":"m"}"#, &mut world.env());
    exchange.on_response_headers(&ok("10.0.0.1:8000"), &mut world.env());
    assert_eq!(
        (
            world.workers.inflight.requests("p", &address(1)),
            world.workers.inflight.requests("p", &address(2))
        ),
        (1, 0)
    );
    assert_eq!(world.stats.get("headroom_served_elsewhere_total.pool=p"), 1);
    drop(exchange);
    assert_eq!(world.workers.inflight.requests("p", &address(1)), 0);
}

#[test]
fn requests_without_a_body_to_read_are_scheduled_at_once() {
    let mut world = World::new(&json!({"name": "p", "scorers": [{"type": "queue-scorer"}]})).fed();
    for head in [
        Head { method: "GET", path: "/v1/models", end_of_stream: true, ..Head::default() },
        Head { method: "POST", path: "/v1/embeddings", content_length: Some(10), ..Head::default() },
        // Only bodies that are read have a limit.
        Head { method: "POST", path: "/v1/files", content_length: Some(1 << 40), ..Head::default() },
        Head::default(),
    ] {
        let action = world.exchange().on_request_headers(head.clone(), &mut world.env());
        assert!(matches!(action, Action::Send { .. }), "{head:?}: {action:?}");
    }
}

#[test]
fn what_cannot_be_read_gets_a_clear_4xx() {
    let mut world = World::new(&json!({"name": "p", "maxBodyBytes": 100})).fed();
    let mut exchange = world.exchange();
    assert_eq!(status(&exchange.on_request_headers(chat(101), &mut world.env())), 413);
    assert_eq!(exchange.on_request_body_growing(100, &mut world.env()), Action::AwaitBody);
    let action = exchange.on_request_body_growing(101, &mut world.env());
    assert!(
        matches!(&action, Action::Reply(reply) if reply.status == 413 && reply.body.contains("100 bytes"))
    );
    for body in [&b""[..], b"x", b"{}", br#"{"model":"a","model":"b"}"#] {
        assert_eq!(status(&exchange.on_request_body(body, &mut world.env())), 400);
    }
    let empty = Head { end_of_stream: true, ..chat(0) };
    assert_eq!(status(&exchange.on_request_headers(empty, &mut world.env())), 400);
    assert_eq!((world.requests("too_large"), world.requests("bad_request")), (2, 5));
}

#[test]
fn before_anything_is_known_envoy_balances_or_the_request_is_rejected() {
    let mut world = World::new(&json!({"name": "p"}));
    assert_eq!(world.exchange().on_request_body(br#"{"model":"m"}"#, &mut world.env()), Action::Pass);
    let mut strict = World::new(&json!({"name": "p", "onNoData": "reject"}));
    let action = strict.exchange().on_request_body(br#"{"model":"m"}"#, &mut strict.env());
    assert_eq!(status(&action), 503);
    assert_eq!((world.requests("passed_through"), strict.requests("no_data")), (1, 1));
}

#[test]
fn a_rejection_names_the_filter_and_its_constraint() {
    let filter = json!({"type": "label-selector-filter", "name": "family", "selector": "model=llama"});
    let mut world = World::new(&json!({"name": "p", "filters": [filter]})).fed();
    let mut exchange = world.exchange();
    let Action::Reply(reply) = exchange.on_request_body(br#"{"model":"m"}"#, &mut world.env()) else {
        panic!("not rejected");
    };
    assert_eq!(reply.status, 503);
    let body: serde_json::Value = serde_json::from_str(&reply.body).expect("JSON");
    assert_eq!(body["error"]["message"], "pool p: no endpoint with labels model=llama (family)");
    assert!(reply.headers.contains(&("x-llm-d-request-dropped-reason", "rejected-no-endpoints")));
    assert!(exchange.decision_for_log().expect("explained").contains("model=llama"));
    assert_eq!(world.requests("none_capable"), 1);
}

#[test]
fn other_clusters_are_none_of_our_business() {
    assert!(Exchange::of(&World::new(&json!({"name": "p", "clusters": ["x"]})).pools, "p").is_none());
}
