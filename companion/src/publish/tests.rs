use std::sync::Arc;

use headroom_datalayer::{Address, Endpoint, Sample, Timestamp, Value};
use headroom_wire::feed::{self, SubscribeRequest, sample, subscribe_response::Message};
use tokio::{net::TcpListener, sync::watch};

use super::{
    Hub, Settings,
    pool::{Next, PoolFeed},
    serve,
};
use crate::{
    admin::FeedMetrics,
    testing::{Reader, subscribe_to},
};

fn address(port: u16) -> Address {
    format!("10.0.0.1:{port}").parse().expect("an address")
}

pub(super) fn change(
    port: u16,
    attribute: &str,
    value: Option<(f64, u64)>,
) -> (Address, String, Option<Sample>) {
    let sample = value.map(|(number, ms)| Sample {
        value: Value::number(number).expect("finite"),
        measured_at: Timestamp::from_millis(ms),
    });
    (address(port), attribute.to_owned(), sample)
}

fn endpoint(port: u16) -> Endpoint {
    let labels = [("role".to_owned(), "decode".to_owned())].into();
    Endpoint { address: address(port), name: format!("e{port}"), labels }
}

fn pool() -> PoolFeed {
    let mut pool = PoolFeed::new("p".to_owned(), 7);
    pool.set_endpoints(vec![endpoint(1), endpoint(2)]);
    pool.flush();
    pool
}

/// `address attribute=number@ms`, or `address -attribute` for one that is gone.
fn show(samples: &[feed::EndpointSamples]) -> Vec<String> {
    let mut shown = Vec::new();
    for endpoint in samples {
        shown.extend(
            endpoint.samples.iter().map(|sample| format!("{} {}", endpoint.address, show_one(sample))),
        );
        shown.extend(endpoint.cleared.iter().map(|attribute| format!("{} -{attribute}", endpoint.address)));
    }
    shown
}

fn show_one(sample: &feed::Sample) -> String {
    let Some(sample::Value::Number(number)) = sample.value else { panic!("a number") };
    format!("{}={number}@{}", sample.attribute, sample.measured_at_us / 1_000)
}

fn delta(next: Next) -> feed::Delta {
    let Next::Delta(sequence, encoded) = next else { panic!("no delta: {next:?}") };
    let Message::Delta(delta) = encoded.decode() else { panic!("no delta: {encoded:?}") };
    assert_eq!(delta.sequence, sequence);
    delta
}

fn snapshot(next: Next) -> feed::Snapshot {
    let Next::Snapshot(sequence, encoded) = next else { panic!("no snapshot: {next:?}") };
    let Message::Snapshot(snapshot) = encoded.decode() else { panic!("no snapshot: {encoded:?}") };
    assert_eq!(snapshot.sequence, sequence);
    snapshot
}

#[test]
fn changes_travel_together_and_the_last_one_counts() {
    let mut pool = pool();
    assert!(!pool.flush());
    let first = snapshot(pool.after(None));
    assert_eq!((first.epoch, first.endpoints.len()), (7, 2));
    assert_eq!(pool.after(Some(first.sequence)), Next::UpToDate);

    pool.submit(vec![change(1, "A", Some((1.0, 1))), change(2, "A", Some((5.0, 1)))]);
    pool.submit(vec![change(1, "A", Some((2.0, 2))), change(2, "A", None)]);
    assert_eq!(pool.after(Some(first.sequence)), Next::UpToDate, "not before the flush");
    assert!(pool.flush());
    let delta = delta(pool.after(Some(first.sequence)));
    assert_eq!((delta.epoch, delta.sequence), (7, first.sequence + 1));
    assert_eq!(show(&delta.samples), ["10.0.0.1:1 A=2@2", "10.0.0.1:2 -A"]);
    assert_eq!(pool.after(Some(delta.sequence)), Next::UpToDate);

    let late = snapshot(pool.after(None));
    assert_eq!(late.sequence, delta.sequence, "a snapshot carries the number of what it includes");
    let samples: Vec<_> = late.endpoints.iter().flat_map(|e| e.samples.iter().map(show_one)).collect();
    assert_eq!(samples, ["A=2@2"]);
}

#[test]
fn who_is_behind_gets_every_delta_in_turn_or_a_snapshot() {
    let mut pool = pool();
    let start = snapshot(pool.after(None)).sequence;
    for step in 1..=64_u32 {
        pool.submit(vec![change(1, "A", Some((f64::from(step), 1)))]);
        pool.flush();
    }
    let mut cursor = start;
    for _ in 1..=64 {
        let next = delta(pool.after(Some(cursor))).sequence;
        assert_eq!(next, cursor + 1);
        cursor = next;
    }
    assert_eq!(pool.after(Some(cursor)), Next::UpToDate);

    pool.submit(vec![change(1, "A", Some((65.0, 1)))]);
    pool.flush();
    assert_eq!(snapshot(pool.after(Some(start))).sequence, start + 65);
    assert_eq!(delta(pool.after(Some(start + 1))).sequence, start + 2);
    assert_eq!(snapshot(pool.after(Some(u64::MAX))).sequence, start + 65, "a number that never was");
}

pub(super) struct Publisher {
    pub(super) hub: Arc<Hub>,
    pub(super) feed: std::net::SocketAddr,
    pub(super) metrics: FeedMetrics,
    pub(super) stop: watch::Sender<bool>,
    server: tokio::task::JoinHandle<()>,
}

/// A publisher of pool `p` with one endpoint, 10.0.0.1:1, whose targets were tried.
pub(super) async fn publisher() -> Publisher {
    publisher_with(7, settings()).await
}

/// The config's defaults.
pub(super) fn settings() -> Settings {
    Settings { tls: None, max_subscribers: 1024, max_message_bytes: 32 << 20 }
}

pub(super) async fn publisher_with(epoch: u64, settings: Settings) -> Publisher {
    let hub = Arc::new(Hub::new(vec!["p".to_owned()], epoch));
    hub.set_endpoints(0, vec![Endpoint { name: "10.0.0.1:1".to_owned(), ..endpoint(1) }]);
    hub.listed(0);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let feed = listener.local_addr().expect("an address");
    let (stop, stopping) = watch::channel(false);
    let metrics = FeedMetrics::default();
    let serving = serve(listener, settings, Arc::clone(&hub), metrics.clone(), stopping);
    let running = Arc::clone(&hub);
    tokio::spawn(async move { running.run().await });
    let server = tokio::spawn(async move { serving.await.expect("serves") });
    Publisher { hub, feed, metrics, stop, server }
}

pub(super) async fn next_snapshot(reader: &mut Reader) -> feed::Snapshot {
    match reader.news().await {
        Message::Snapshot(snapshot) => snapshot,
        other => panic!("no snapshot: {other:?}"),
    }
}

pub(super) async fn next_delta(reader: &mut Reader) -> feed::Delta {
    match reader.news().await {
        Message::Delta(delta) => delta,
        other => panic!("no delta: {other:?}"),
    }
}

#[tokio::test]
async fn a_stream_has_a_snapshot_then_deltas_and_heartbeats_in_silence() {
    let publisher = publisher().await;
    let mut reader = Reader::open(publisher.feed, vec![subscribe_to(&["p", "nobody", "p"])]).await;
    let known = next_snapshot(&mut reader).await;
    assert_eq!((known.pool.as_str(), known.epoch, known.endpoints.len()), ("p", 7, 1));
    let unknown = next_snapshot(&mut reader).await;
    assert_eq!((unknown.pool.as_str(), unknown.endpoints.len()), ("nobody", 0));
    for step in 1..=3_u64 {
        publisher.hub.submit(0, vec![change(1, "A", Some((0.5, step)))]);
        let delta = next_delta(&mut reader).await;
        assert_eq!((delta.epoch, delta.sequence), (7, known.sequence + step));
        assert_eq!(show(&delta.samples), [format!("10.0.0.1:1 A=0.5@{step}")]);
    }
    let before = crate::clock::now().as_micros();
    let silence = reader.next().await.expect("no error");
    assert!(matches!(silence.message, Some(Message::Heartbeat(_))));
    assert!(silence.sent_at_us >= before);
}

#[tokio::test]
async fn a_later_subscribe_replaces_the_list_and_leaves_the_rest_alone() {
    let publisher = publisher().await;
    let requests = vec![subscribe_to(&["p"]), subscribe_to(&["other", "p"])];
    let mut reader = Reader::open(publisher.feed, requests).await;
    let pools = [next_snapshot(&mut reader).await.pool, next_snapshot(&mut reader).await.pool];
    assert!(pools.contains(&"p".to_owned()) && pools.contains(&"other".to_owned()), "{pools:?}");
    publisher.hub.submit(0, vec![change(1, "A", Some((1.0, 1)))]);
    assert_eq!(next_delta(&mut reader).await.pool, "p");
}

#[tokio::test]
async fn a_request_that_is_no_subscribe_is_refused() {
    let publisher = publisher().await;
    let long = "x".repeat(254);
    let bad = [SubscribeRequest { message: None }, subscribe_to(&[]), subscribe_to(&[&long])];
    for request in bad {
        let mut reader = Reader::open(publisher.feed, vec![request]).await;
        assert_eq!(reader.next().await.expect_err("refused").code(), tonic::Code::InvalidArgument);
    }
}

#[tokio::test]
async fn a_subscriber_that_does_not_read_delays_nobody_and_gets_a_snapshot_later() {
    let publisher = publisher().await;
    let mut idle = Reader::open(publisher.feed, vec![subscribe_to(&["p"])]).await;
    let mut brisk = Reader::open(publisher.feed, vec![subscribe_to(&["p"])]).await;
    let start = next_snapshot(&mut idle).await.sequence;
    next_snapshot(&mut brisk).await;
    // Each delta is larger than what a connection buffers for one that does not read.
    let names = |step: u64| {
        let value = Value::Names(vec![format!("{step}-{}", "x".repeat(100_000))]);
        let sample = Sample { value, measured_at: Timestamp::from_millis(step) };
        vec![(address(1), "Names".to_owned(), Some(sample))]
    };
    let steps = 100;
    for step in 1..=steps {
        publisher.hub.submit(0, names(step));
        assert_eq!(next_delta(&mut brisk).await.sequence, start + step);
    }
    let mut cursor = start;
    let caught_up = loop {
        match idle.news().await {
            Message::Delta(delta) => {
                assert_eq!(delta.sequence, cursor + 1);
                cursor = delta.sequence;
            }
            Message::Snapshot(snapshot) => break snapshot,
            Message::Heartbeat(_) => {}
        }
    };
    assert!(cursor < start + steps, "it fell behind");
    assert_eq!(caught_up.sequence, start + steps);
}

#[tokio::test]
async fn stopping_ends_the_streams() {
    let publisher = publisher().await;
    let mut reader = Reader::open(publisher.feed, vec![subscribe_to(&["p"])]).await;
    next_snapshot(&mut reader).await;
    publisher.stop.send(true).expect("somebody listens");
    let status = loop {
        if let Err(status) = reader.next().await {
            break status;
        }
    };
    assert_eq!(status.code(), tonic::Code::Unavailable);
    drop(reader);
    tokio::time::timeout(crate::testing::DEADLINE, publisher.server).await.expect("in time").expect("ended");
}
