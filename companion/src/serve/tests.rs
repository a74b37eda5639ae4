use std::{collections::BTreeMap, time::Duration};

use headroom_wire::feed::{Sample, sample, subscribe_response::Message};
use serde_json::Value;

use super::Running;
use crate::{
    config,
    testing::{Answer, FakeTarget, Reader, eventually, subscribe_to},
};

/// What a reader of one pool knows: address to attribute to number and time.
#[derive(Debug, Default)]
struct Known(BTreeMap<String, BTreeMap<String, (f64, u64)>>);

impl Known {
    fn take(&mut self, message: Message) {
        match message {
            Message::Snapshot(snapshot) => {
                self.0.clear();
                for endpoint in snapshot.endpoints {
                    self.0.insert(endpoint.address.clone(), BTreeMap::new());
                    self.samples(&endpoint.address, endpoint.samples);
                }
            }
            Message::Delta(delta) => {
                for address in delta.removed {
                    self.0.remove(&address);
                }
                for endpoint in delta.upserted {
                    self.0.entry(endpoint.address).or_default();
                }
                for changed in delta.samples {
                    self.samples(&changed.address, changed.samples);
                    for attribute in changed.cleared {
                        self.0.get_mut(&changed.address).and_then(|known| known.remove(&attribute));
                    }
                }
            }
            Message::Heartbeat(_) => {}
        }
    }

    fn samples(&mut self, address: &str, samples: Vec<Sample>) {
        for sample in samples {
            if let Some(sample::Value::Number(number)) = sample.value {
                let endpoint = self.0.entry(address.to_owned()).or_default();
                endpoint.insert(sample.attribute, (number, sample.measured_at_us));
            }
        }
    }

    fn get(&self, address: &str, attribute: &str) -> Option<f64> {
        Some(self.0.get(address)?.get(attribute)?.0)
    }

    /// Reads on until `check` holds.
    async fn until(&mut self, reader: &mut Reader, check: impl Fn(&Self) -> bool) {
        let started = tokio::time::Instant::now();
        while !check(self) {
            assert!(started.elapsed() < crate::testing::DEADLINE, "did not come: {self:?}");
            let message = reader.next().await.expect("the stream goes on");
            self.take(message.message.expect("a message"));
        }
    }
}

async fn start(endpoints: &str) -> Running {
    let text = format!(
        "feed: {{listen: '127.0.0.1:0'}}\nadmin: {{listen: '127.0.0.1:0'}}\n\
         scrape: {{interval: 20ms, timeout: 5s, maxBackoff: 40ms}}\n\
         pools:\n- name: chat\n  endpoints:\n{endpoints}"
    );
    Running::start(config::parse(&text).expect("a good config")).await.expect("starts")
}

async fn get(running: &Running, path: &str) -> (u16, String) {
    let response = reqwest::get(format!("http://{}{path}", running.admin)).await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("a text"))
}

async fn target(running: &Running, url: &str) -> Value {
    let (_, text) = get(running, "/targets").await;
    let page: Value = serde_json::from_str(&text).expect("JSON");
    let targets = page.get("targets").and_then(Value::as_array).expect("a list");
    targets.iter().find(|target| target.get("url").is_some_and(|u| u == url)).expect("the target").clone()
}

fn vllm(waiting: u32) -> String {
    format!(
        "vllm:num_requests_waiting{{model_name=\"m\"}} {waiting}\nvllm:num_requests_running{{model_name=\"m\"}} 1\n"
    )
}

fn dcgm(first: f64, second: f64) -> String {
    format!(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE{{UUID=\"GPU-a\"}} {first}\n\
         DCGM_FI_PROF_GR_ENGINE_ACTIVE{{UUID=\"GPU-b\"}} {second}\n\
         DCGM_FI_PROF_GR_ENGINE_ACTIVE{{UUID=\"GPU-c\"}} 0\n"
    )
}

fn endpoint(address: &str, engine: &FakeTarget, gpus: &str) -> String {
    format!("  - {{address: '{address}', metrics: '{}', {gpus}}}\n", engine.url())
}

const A: &str = "10.0.0.1:8000";
const B: &str = "10.0.0.2:8000";

#[tokio::test]
async fn from_two_engines_and_a_shared_exporter_to_the_reader() {
    let (a, b) = (FakeTarget::text(vllm(3)).await, FakeTarget::text(vllm(0)).await);
    let exporter = FakeTarget::text(dcgm(0.25, 0.5)).await;
    let gpus = |uuid: &str| format!("gpus: {{exporter: '{}', uuids: [{uuid}]}}", exporter.url());
    let running = start(&(endpoint(A, &a, &gpus("gpu-a")) + &endpoint(B, &b, &gpus("gpu-b")))).await;
    let mut reader = Reader::open(running.feed, vec![subscribe_to(&["chat"])]).await;
    let mut known = Known::default();

    known
        .until(&mut reader, |known| {
            known.get(A, "WaitingQueueSize") == Some(3.0)
                && known.get(B, "WaitingQueueSize") == Some(0.0)
                && known.get(A, "GPUUtilization") == Some(0.25)
                && known.get(B, "GPUUtilization") == Some(0.5)
        })
        .await;

    exporter.answers(Answer::Text(dcgm(0.99, 0.5)));
    known.until(&mut reader, |known| known.get(A, "GPUUtilization") == Some(0.99)).await;

    a.answers(Answer::Text("vllm:num_requests_running 1\n".to_owned()));
    known.until(&mut reader, |known| known.get(A, "WaitingQueueSize").is_none()).await;
    assert_eq!(known.get(A, "RunningRequestsSize"), Some(1.0));

    let before = known.0.get(B).and_then(|b| b.get("WaitingQueueSize")).expect("measured").1;
    known
        .until(&mut reader, |known| {
            known.0.get(B).and_then(|b| b.get("WaitingQueueSize")).is_some_and(|sample| sample.1 > before)
        })
        .await;
    assert_eq!(exporter.most_under_way(), 1, "two endpoints share its scrapes");

    let (status, metrics) = get(&running, "/metrics").await;
    assert_eq!(status, 200);
    let parsed = headroom_exposition::parse(&metrics);
    assert_eq!(parsed.errors, []);
    let value = |name: &str, labels: &[(&str, &str)]| {
        let has = |sample: &&headroom_exposition::Sample<'_>| {
            sample.name == name && labels.iter().all(|(name, value)| sample.label(name) == Some(value))
        };
        parsed.samples.iter().find(has).map(|sample| sample.value)
    };
    assert_eq!(value("headroom_pool_endpoints", &[("pool", "chat")]), Some(2.0));
    assert_eq!(value("headroom_pool_fresh_endpoints", &[("pool", "chat")]), Some(2.0));
    assert_eq!(value("headroom_feed_subscribers", &[]), Some(1.0));
    assert_eq!(
        value("headroom_target_unmatched_gpus", &[("target", &exporter.url()), ("reason", "no_owner")]),
        Some(1.0)
    );
    for (name, labels) in [
        ("headroom_feed_messages_total", vec![("kind", "delta")]),
        ("headroom_target_scrapes_total", vec![("target", a.url().as_str()), ("result", "ok")]),
        ("headroom_target_last_success_timestamp_seconds", vec![]),
        ("headroom_target_last_scrape_duration_seconds", vec![]),
    ] {
        assert!(value(name, &labels).is_some_and(|value| value > 0.0), "{name} in {metrics}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_target_that_hangs_delays_nobody_and_a_failing_one_leaves_its_last_value() {
    let (a, b) = (FakeTarget::text(vllm(3)).await, FakeTarget::start(Answer::Hang).await);
    let running = start(&(endpoint(A, &a, "") + &endpoint(B, &b, ""))).await;
    assert_eq!(get(&running, "/healthz").await.0, 200);
    let mut reader = Reader::open(running.feed, vec![subscribe_to(&["chat"])]).await;
    let mut known = Known::default();
    known.until(&mut reader, |known| known.get(A, "WaitingQueueSize") == Some(3.0)).await;
    a.asked(5).await;
    assert_eq!(known.0.get(B).map(BTreeMap::len), Some(0), "never scraped is not idle");
    let (status, body) = get(&running, "/readyz").await;
    assert_eq!(status, 503);
    assert!(body.contains("1 targets were not scraped yet") && body.contains(&b.url()), "{body}");

    a.answers(Answer::Status(401));
    let bad = async || {
        let state = target(&running, &a.url()).await;
        (state.get("state")? == "bad").then_some(state)
    };
    let state = eventually("the target turns bad", bad).await;
    assert_eq!(state.get("lastError").and_then(Value::as_str), Some("answered 401 Unauthorized"));
    assert!(state.get("lastSuccessUnixMs").is_some_and(Value::is_u64));
    let mut late = Reader::open(running.feed, vec![subscribe_to(&["chat"])]).await;
    let mut seen = Known::default();
    seen.until(&mut late, |seen| !seen.0.is_empty()).await;
    assert_eq!(seen.get(A, "WaitingQueueSize"), Some(3.0), "it ages at the reader");

    a.answers(Answer::Text(vllm(1)));
    known.until(&mut reader, |known| known.get(A, "WaitingQueueSize") == Some(1.0)).await;
    let good = async || {
        let state = target(&running, &a.url()).await;
        (state.get("state")? == "good").then_some(())
    };
    eventually("the target is good again", good).await;
}

#[tokio::test]
async fn a_slow_target_is_never_scraped_twice_at_a_time_and_gets_its_rest() {
    let slow = FakeTarget::start(Answer::Late(Duration::from_millis(60), vllm(2))).await;
    let quick = FakeTarget::text(vllm(0)).await;
    let running = start(&(endpoint(A, &slow, "") + &endpoint(B, &quick, ""))).await;
    let mut readers = Vec::new();
    for _ in 0..2 {
        readers.push(Reader::open(running.feed, vec![subscribe_to(&["chat"])]).await);
    }
    for reader in &mut readers {
        let mut known = Known::default();
        known.until(reader, |known| known.get(A, "WaitingQueueSize") == Some(2.0)).await;
    }
    slow.asked(5).await;
    assert_eq!(slow.most_under_way(), 1);
    assert!(quick.requests() > slow.requests(), "the others keep their pace");
    assert_eq!((slow.connections(), quick.connections()), (1, 1));
}

#[tokio::test]
async fn ready_once_every_target_was_tried_and_the_first_snapshot_waits_for_that() {
    let engine = FakeTarget::text(vllm(3)).await;
    let gone = FakeTarget::text("").await;
    let nobody = format!("  - {{address: '{B}', metrics: '{}'}}\n", gone.url());
    drop(gone);
    let running = start(&(endpoint(A, &engine, "") + &nobody)).await;
    let mut reader = Reader::open(running.feed, vec![subscribe_to(&["chat"])]).await;
    let mut known = Known::default();
    known.take(reader.news().await);
    assert_eq!(known.get(A, "WaitingQueueSize"), Some(3.0), "the first snapshot is not empty");
    let ready = async || (get(&running, "/readyz").await.0 == 200).then_some(());
    eventually("ready", ready).await;
}

#[tokio::test]
async fn an_unknown_engine_is_named_as_such_and_has_no_values() {
    let engine = FakeTarget::text("acme:queue_depth 40\n").await;
    let running = start(&endpoint(A, &engine, "")).await;
    let bad = async || {
        let state = target(&running, &engine.url()).await;
        (state.get("state")? == "bad").then_some(state)
    };
    let state = eventually("the scrape is judged", bad).await;
    assert_eq!(state.get("lastError").and_then(Value::as_str), Some("no known engine in this scrape"));
    let (_, metrics) = get(&running, "/metrics").await;
    assert!(metrics.contains("headroom_pool_fresh_endpoints{pool=\"chat\"} 0"), "{metrics}");
    assert!(!metrics.contains("staleness_seconds{"), "{metrics}");
}

#[tokio::test]
async fn when_every_scrape_is_refused_the_pages_say_so_and_there_is_no_mean() {
    let mut engines = Vec::new();
    for _ in 0..10 {
        engines.push(FakeTarget::text(vllm(4)).await);
    }
    let list = engines.iter().enumerate();
    let endpoints: String =
        list.map(|(index, engine)| endpoint(&format!("10.0.1.{}:8000", index + 1), engine, "")).collect();
    let running = start(&endpoints).await;
    let metric = async |wanted: String| {
        let (_, metrics) = get(&running, "/metrics").await;
        metrics.lines().any(|line| line == wanted.as_str()).then_some(())
    };
    let fresh = "headroom_pool_fresh_endpoints{pool=\"chat\"}";
    let mean = "headroom_pool_attribute_mean{pool=\"chat\",attribute=\"WaitingQueueSize\"}";
    eventually("all are fresh", || metric(format!("{fresh} 10"))).await;
    eventually("their mean", || metric(format!("{mean} 4.0"))).await;

    engines.iter().for_each(|engine| engine.answers(Answer::Status(401)));
    eventually("none is fresh", || metric(format!("{fresh} 0"))).await;
    let (_, metrics) = get(&running, "/metrics").await;
    assert!(!metrics.contains("headroom_pool_attribute_mean{"), "a mean over nobody: {metrics}");
    assert!(metrics.contains("headroom_pool_endpoints{pool=\"chat\"} 10"), "{metrics}");
    for engine in &engines {
        let state = target(&running, &engine.url()).await;
        assert_eq!(state.get("lastError").and_then(Value::as_str), Some("answered 401 Unauthorized"));
        assert_eq!(state.get("state").and_then(Value::as_str), Some("bad"));
    }
}

#[tokio::test]
async fn an_endpoint_that_leaves_the_file_is_gone_with_its_target_and_comes_back_as_a_new_one() {
    let (a, b) = (FakeTarget::text(vllm(3)).await, FakeTarget::text(vllm(5)).await);
    let file = std::env::temp_dir().join(format!("headroom-{}-serve.yaml", std::process::id()));
    let write = |endpoints: &str| {
        let fresh = file.with_extension("new");
        std::fs::write(&fresh, format!("endpoints:\n{endpoints}")).expect("written");
        std::fs::rename(&fresh, &file).expect("renamed");
    };
    let entry = |address: &str, engine: &FakeTarget| endpoint(address, engine, "");
    write(&(entry(A, &a) + &entry(B, &b)));
    let text = format!(
        "feed: {{listen: '127.0.0.1:0'}}\nadmin: {{listen: '127.0.0.1:0'}}\nscrape: {{interval: 20ms}}\n\
         pools: [{{name: chat, file: {{path: '{}'}}}}]",
        file.display()
    );
    let running = Running::start(config::parse(&text).expect("a good config")).await.expect("starts");
    let mut reader = Reader::open(running.feed, vec![subscribe_to(&["chat"])]).await;
    let mut known = Known::default();
    let waiting = |known: &Known, address: &str| known.get(address, "WaitingQueueSize");
    known.until(&mut reader, |known| waiting(known, A) == Some(3.0) && waiting(known, B) == Some(5.0)).await;

    write(&entry(A, &a));
    known.until(&mut reader, |known| !known.0.contains_key(B)).await;
    let (_, page) = get(&running, "/targets").await;
    assert!(!page.contains(&b.url()) && page.contains(&a.url()), "{page}");
    let (_, metrics) = get(&running, "/metrics").await;
    assert!(!metrics.contains(&b.url()), "{metrics}");

    b.answers(Answer::Text(vllm(7)));
    write("  - {address: nowhere}\n");
    let told = async || get(&running, "/targets").await.1.contains("is not an address").then_some(());
    eventually("the bad entry is reported", told).await;
    write(&(entry(A, &a) + &entry(B, &b)));
    known.until(&mut reader, |known| waiting(known, B) == Some(7.0)).await;
    std::fs::remove_file(&file).expect("removed");
}

#[tokio::test]
async fn an_address_that_is_taken_is_named_with_its_path() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = taken.local_addr().expect("an address");
    let text = format!("feed: {{listen: '{address}'}}\npools: [{{name: p}}]");
    let error = Running::start(config::parse(&text).expect("a good config")).await.expect_err("taken");
    assert!(format!("{error:#}").starts_with(&format!("feed.listen: {address}: ")), "{error:#}");
}

#[tokio::test]
async fn a_reader_that_moves_to_another_companion_loses_no_value_and_mixes_no_epochs() {
    let engine = FakeTarget::text(vllm(3)).await;
    let first = start(&endpoint(A, &engine, "")).await;
    let mut reader = Reader::open(first.feed, vec![subscribe_to(&["chat"])]).await;
    let mut known = Known::default();
    known.until(&mut reader, |known| known.get(A, "WaitingQueueSize") == Some(3.0)).await;
    let Message::Delta(last) = reader.news().await else { panic!("one snapshot only") };

    // The other one has not scraped anything yet when the reader comes.
    engine.answers(Answer::Late(Duration::from_millis(300), vllm(4)));
    let second = start(&endpoint(A, &engine, "")).await;
    let admin = first.admin;
    let stopping = tokio::spawn(first.stop());
    let not_ready = async || {
        let answer = reqwest::get(format!("http://{admin}/readyz")).await.ok()?;
        (answer.status() == 503 && answer.text().await.ok()?.contains("the process is stopping"))
            .then_some(())
    };
    eventually("it says that it stops", not_ready).await;
    let ended = loop {
        if let Err(status) = reader.next().await {
            break status;
        }
    };
    assert_eq!(ended.code(), tonic::Code::Unavailable);

    let mut reader = Reader::open(second.feed, vec![subscribe_to(&["chat"])]).await;
    let Message::Snapshot(snapshot) = reader.news().await else { panic!("no snapshot first") };
    let (epoch, mut sequence) = (snapshot.epoch, snapshot.sequence);
    assert_ne!(epoch, last.epoch);
    known.take(Message::Snapshot(snapshot));
    assert_eq!(known.get(A, "WaitingQueueSize"), Some(4.0), "the first snapshot is not empty");
    for _ in 0..5 {
        let Message::Delta(delta) = reader.news().await else { panic!("one snapshot only") };
        assert_eq!((delta.epoch, delta.sequence), (epoch, sequence + 1));
        sequence = delta.sequence;
        known.take(Message::Delta(delta));
        assert_eq!(known.get(A, "WaitingQueueSize"), Some(4.0));
    }
    stopping.await.expect("it ends");
}

#[tokio::test]
async fn tls_files_that_are_missing_are_named_with_their_path() {
    let text = "feed: {listen: '127.0.0.1:0', tls: {certFile: /nowhere/tls.crt, keyFile: /nowhere/tls.key}}
admin: {listen: '127.0.0.1:0'}
pools: [{name: p}]";
    let error = Running::start(config::parse(text).expect("a good config")).await.expect_err("no file");
    let error = format!("{error:#}");
    assert!(error.starts_with("feed.tls: /nowhere/tls.crt: cannot be read: No such file"), "{error}");
}
