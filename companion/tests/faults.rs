//! Many good targets and some of every bad kind, scraped by the real binary over real sockets.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail as they do"
)]

#[path = "../src/tls/testing.rs"]
#[expect(dead_code, reason = "the unit tests use the rest")]
mod certificates;
#[path = "../src/scrape/raw_target.rs"]
#[expect(dead_code, reason = "the unit tests use the rest")]
mod raw_target;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::Write as _,
    net::SocketAddr,
    process::Stdio,
    time::{Duration, Instant},
};

use axum::Router;
use certificates::{Authority, Files};
use flate2::{Compression, write::GzEncoder};
use raw_target::{Conduct, RawTarget};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
};

const GOOD: usize = 500;
const WINDOW: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(20);
const TEXT: &str =
    "vllm:num_requests_waiting{model_name=\"m\"} 3\nvllm:num_requests_running{model_name=\"m\"} 1\n";

fn text() -> Conduct {
    Conduct::Text(TEXT.to_owned())
}

/// The companion in a process of its own.
struct Companion {
    process: Child,
    admin: SocketAddr,
}

impl Companion {
    async fn start(files: &Files, config: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_headroom"))
            .args(["serve", "--config"])
            .arg(&*files.write("companion.yaml", config))
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let admin = loop {
            let line = lines.next_line().await.expect("text").expect("it serves");
            if let Some((_, rest)) = line.split_once("admin=") {
                break rest.split(' ').next().expect("a word").parse().expect("an address");
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, admin }
    }

    async fn get(&self, path: &str) -> String {
        let answer = reqwest::get(format!("http://{}{path}", self.admin)).await.expect("an answer");
        answer.text().await.expect("a text")
    }

    /// Each target by its URL.
    async fn targets(&self) -> BTreeMap<String, Value> {
        let page: Value = serde_json::from_str(&self.get("/targets").await).expect("JSON");
        let list = page["targets"].as_array().expect("a list").iter();
        list.map(|target| (target["url"].as_str().expect("a URL").to_owned(), target.clone())).collect()
    }

    /// The middle one of the good targets' scrapes in a second, over a window of time.
    async fn pace(&self, good: &[String]) -> f64 {
        let (before, started) = (self.targets().await, Instant::now());
        tokio::time::sleep(WINDOW).await;
        let (after, seconds) = (self.targets().await, started.elapsed().as_secs_f64());
        let scrapes =
            |targets: &BTreeMap<String, Value>, url| targets[url]["scrapes"].as_u64().expect("a number");
        let mut counts: Vec<u64> =
            good.iter().map(|url| scrapes(&after, url) - scrapes(&before, url)).collect();
        counts.sort_unstable();
        counts[counts.len() / 2] as f64 / seconds
    }

    /// A line of the process's status, in KiB.
    fn memory(&self, line: &str) -> u64 {
        let path = format!("/proc/{}/status", self.process.id().expect("it runs"));
        let status = std::fs::read_to_string(path).expect("a status");
        let value = status.lines().find_map(|found| found.strip_prefix(line)).expect("the line");
        value.trim_matches([':', ' ', '\t', 'k', 'B']).parse().expect("a number")
    }

    /// Waits until a target is in this state, with this in its last error.
    async fn until(&self, url: &str, state: &str, says: &str) {
        let reached = |targets: &BTreeMap<String, Value>| {
            targets.get(url).is_some_and(|target| {
                let error = target["lastError"].as_str().unwrap_or_default();
                target["state"] == state && error.contains(says)
            })
        };
        let found = self.wait(reached).await;
        found.unwrap_or_else(|targets| panic!("not {state} with {says:?}: {:?}", targets.get(url)));
    }

    /// Waits until `reached` holds of the targets.
    ///
    /// # Errors
    /// The targets when the time is over.
    async fn wait(
        &self,
        reached: impl Fn(&BTreeMap<String, Value>) -> bool,
    ) -> Result<(), BTreeMap<String, Value>> {
        let started = Instant::now();
        loop {
            let targets = self.targets().await;
            if reached(&targets) {
                return Ok(());
            }
            if started.elapsed() > DEADLINE {
                return Err(targets);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Good targets, each at an address of its own.
async fn good_targets() -> Vec<String> {
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let router = Router::new().fallback(async || TEXT);
    tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
    (0..GOOD).map(|n| format!("http://127.1.{}.{}:{port}/metrics", n / 250, n % 250 + 1)).collect()
}

fn gzip_bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..256 {
        encoder.write_all(&vec![b'#'; 1 << 20]).expect("packed");
    }
    encoder.finish().expect("packed")
}

fn config(ca: &str, urls: &[String]) -> String {
    let mut config = format!(
        "feed: {{listen: '127.0.0.1:0'}}\nadmin: {{listen: '127.0.0.1:0'}}\n\
         scrape: {{interval: 200ms, timeout: 1s, maxBackoff: 1s, maxResponseBytes: 1048576, tls: {{caFile: '{ca}'}}}}\n\
         pools:\n- name: chat\n  endpoints:\n"
    );
    for (n, url) in urls.iter().enumerate() {
        let address = format!("10.0.{}.{}:8000", n / 250, n % 250 + 1);
        writeln!(config, "  - {{address: '{address}', metrics: '{url}'}}").expect("written");
    }
    config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_targets_are_known_as_such_and_cost_the_good_ones_nothing() {
    let (ours, theirs, files) = (Authority::new("ours"), Authority::new("theirs"), Files::new());
    let ca = files.write("ca.pem", &ours.pem);
    let good = good_targets().await;
    let bad = [
        (Conduct::Hang, "timeout", "no complete answer within 1s"),
        (Conduct::Trickle, "timeout", "no complete answer within 1s"),
        (Conduct::Huge(100 << 20), "too_large", "longer than 1048576 bytes"),
        (Conduct::Body("content-encoding: gzip\r\n", gzip_bomb()), "too_large", "longer than 1048576 bytes"),
        (Conduct::BreakOff, "transport", "the answer broke off"),
        (Conduct::EndlessHeaders, "transport", "the answer broke off"),
        (Conduct::Status("500 Internal Server Error"), "status", "answered 500 Internal Server Error"),
    ];
    let mut faulty = Vec::new();
    for _ in &bad {
        faulty.push(RawTarget::start(text()).await);
    }
    let moving = RawTarget::start(text()).await;
    let (moving_url, moving_address) = (moving.url(), moving.address.to_string());
    let identity = || ours.issue(&["127.0.0.1"]).server(None);
    let renewed = RawTarget::secure(text(), identity()).await;
    let replaced = RawTarget::secure(text(), identity()).await;
    let all = faulty.iter().map(RawTarget::url);
    let all = all.chain([moving_url.clone(), renewed.secure_url(), replaced.secure_url()]);
    let all: Vec<String> = good.iter().cloned().chain(all).collect();
    let companion = Companion::start(&files, &config(&ca.to_string_lossy(), &all)).await;
    let good_so_far = |targets: &BTreeMap<String, Value>| {
        targets.values().filter(|target| target["state"] == "good").count()
    };
    let all_good = companion.wait(|targets| good_so_far(targets) == all.len()).await;
    all_good.unwrap_or_else(|targets| panic!("{} of {} are good", good_so_far(&targets), all.len()));

    let undisturbed = companion.pace(&good).await;
    let memory_before = companion.memory("VmRSS");
    for (target, (conduct, ..)) in faulty.iter().zip(&bad) {
        target.conduct(conduct.clone());
    }
    drop(moving);
    renewed.shows(identity());
    replaced.shows(theirs.issue(&["127.0.0.1"]).server(None));
    for (target, (_, _, says)) in faulty.iter().zip(&bad) {
        companion.until(&target.url(), "bad", says).await;
    }
    companion.until(&moving_url, "bad", "cannot connect: Connection refused").await;
    companion.until(&replaced.secure_url(), "bad", "its certificate is from an unknown authority").await;

    // Whatever else the machine does weighs on both paces; what bad targets cost would be there each time.
    let mut disturbed = companion.pace(&good).await;
    for _ in 0..2 {
        if disturbed >= 0.8 * undisturbed {
            break;
        }
        disturbed = companion.pace(&good).await;
    }
    assert!(
        disturbed >= 0.8 * undisturbed,
        "{disturbed} scrapes a second, {undisturbed} without the bad ones"
    );

    for (target, (_, kind, says)) in faulty.iter().zip(&bad) {
        assert_eq!(target.most_under_way(), 1, "{says}");
        let metrics = companion.get("/metrics").await;
        let counted =
            format!("headroom_target_scrapes_total{{target=\"{}\",result=\"{kind}\"}} ", target.url());
        assert!(metrics.contains(&counted), "{counted} in {metrics}");
    }
    let grown = companion.memory("VmHWM").saturating_sub(memory_before);
    assert!(grown < 32 << 10, "{grown} KiB more than before");
    assert!(renewed.connections() > 1, "the certificate was shown");
    assert_eq!(companion.targets().await[&renewed.secure_url()]["consecutiveFailures"], 0);
    assert_eq!(companion.targets().await[&renewed.secure_url()]["lastError"], Value::Null);

    let _back = RawTarget::start_at(&moving_address, text(), None).await;
    companion.until(&moving_url, "good", "").await;
    println!("{undisturbed:.2} scrapes a second, {disturbed:.2} beside bad targets; {grown} KiB more memory");
}
