use std::{collections::BTreeMap, time::Duration};

use headroom_datalayer::{Timestamp, well_known};
use url::Url;

use super::{
    Fetcher,
    backoff::Schedule,
    error::ScrapeError,
    ingest::{Ingest, Ingested},
    plan::Consumer,
};
use crate::{
    config::Scrape,
    discovery::{Access, GpuReading, Source, TargetKey},
    extract::{self, EngineReading},
    join::{GpuSelector, Unmatched},
    testing::{Answer, FakeTarget},
};

const ENDPOINT: &str = "10.0.0.1:8000";

fn ingest(source: Source) -> Ingest {
    let mut ingest = Ingest::default();
    ingest.follow(&[Consumer { pool: 0, address: ENDPOINT.parse().expect("an address"), life: 1, source }]);
    ingest
}

fn engine() -> Ingest {
    ingest(Source::Engine(EngineReading { table: extract::engine("vllm"), ..EngineReading::default() }))
}

fn gpus_of_pod(pod: &str) -> Ingest {
    let selector = GpuSelector::Labels([("pod".to_owned(), pod.to_owned())].into());
    ingest(Source::Gpus(GpuReading { selector, refresh: Duration::ZERO }))
}

/// Attribute to value and time of measurement in milliseconds; `None` for one that is gone. Without `Ready`,
/// which every scrape renews.
type Changes = BTreeMap<String, Option<(f64, u64)>>;

fn changes(ingested: &Ingested) -> Changes {
    let all = ingested.changes.iter().flat_map(|(_, changes)| changes);
    all.filter(|(_, attribute, _)| attribute != well_known::READY)
        .map(|(_, attribute, sample)| {
            let shown = sample.as_ref().map(|sample| {
                (sample.value.as_number().unwrap_or(f64::NAN), sample.measured_at.as_micros() / 1_000)
            });
            (attribute.clone(), shown)
        })
        .collect()
}

fn read(ingest: &mut Ingest, text: &str, at_ms: u64) -> Changes {
    changes(&ingest.read(text, Timestamp::from_millis(at_ms)).expect("a scrape"))
}

fn expected(changes: &[(&str, Option<(f64, u64)>)]) -> Changes {
    changes.iter().map(|(attribute, change)| ((*attribute).to_owned(), *change)).collect()
}

#[test]
fn a_new_time_is_news_and_a_value_that_is_gone_is_cleared() {
    let mut ingest = engine();
    let both = "vllm:num_requests_waiting 3\nvllm:num_requests_running 2\n";
    assert_eq!(
        read(&mut ingest, both, 1_000),
        expected(&[("WaitingQueueSize", Some((3.0, 1_000))), ("RunningRequestsSize", Some((2.0, 1_000)))])
    );
    assert_eq!(
        read(&mut ingest, "vllm:num_requests_waiting 3\n", 1_200),
        expected(&[("WaitingQueueSize", Some((3.0, 1_200))), ("RunningRequestsSize", None)])
    );
    assert_eq!(
        read(&mut ingest, "vllm:cache_config_info{block_size=\"16\"} 1\n", 1_400),
        expected(&[("WaitingQueueSize", None), ("CacheBlockSize", Some((16.0, 1_400)))])
    );
}

#[test]
fn a_lasting_fact_is_repeated_seldom() {
    let mut ingest = engine();
    let text = "vllm:cache_config_info{block_size=\"16\"} 1\n";
    assert_eq!(read(&mut ingest, text, 1_000).len(), 1);
    assert_eq!(read(&mut ingest, text, 1_200).len(), 0);
    assert_eq!(read(&mut ingest, text, 11_001), expected(&[("CacheBlockSize", Some((16.0, 11_001)))]));
    let other = "vllm:cache_config_info{block_size=\"32\"} 1\n";
    assert_eq!(read(&mut ingest, other, 11_200), expected(&[("CacheBlockSize", Some((32.0, 11_200)))]));
}

#[test]
fn a_page_without_metrics_is_a_failure_and_an_unknown_engine_is_said_to_be_one() {
    let mut ingest = engine();
    read(&mut ingest, "vllm:num_requests_waiting 3\n", 1_000);
    for (page, says) in [("<html>\n<body>\n", "2 unreadable lines, the first is line 1"), ("", "no metrics")]
    {
        let error = ingest.read(page, Timestamp::from_millis(1_200)).expect_err("no scrape");
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.kind(), "no_samples");
    }
    let other = ingest.read("acme:queue_depth 40\n", Timestamp::from_millis(1_400)).expect("a scrape");
    assert_eq!(other.nothing_known, Some("no known engine in this scrape"));
    assert_eq!(changes(&other), expected(&[("WaitingQueueSize", None)]));
}

#[test]
fn broken_lines_are_noted_and_cost_only_themselves() {
    let text =
        "vllm:num_requests_running 4\nvllm:num_requests_waiting{a=\"b\nvllm:kv_cache_usage_perc zero\n";
    let ingested = engine().read(text, Timestamp::from_millis(1)).expect("a scrape");
    assert_eq!(changes(&ingested), expected(&[("RunningRequestsSize", Some((4.0, 1)))]));
    assert_eq!(ingested.parse_errors, 2);
    assert_eq!(ingested.notes, ["line 2: unterminated label set", "line 3: the value is not a number"]);
}

#[test]
fn pod_labels_that_come_and_go_leave_the_last_value_to_age() {
    let mut ingest = gpus_of_pod("p");
    let listed = |value: &str| format!("DCGM_FI_DEV_GPU_UTIL{{UUID=\"a\",pod=\"p\"}} {value}\n");
    assert_eq!(read(&mut ingest, &listed("80"), 1), expected(&[("GPUUtilization", Some((0.8, 1)))]));
    let lost =
        ingest.read("DCGM_FI_DEV_GPU_UTIL{UUID=\"a\"} 75\n", Timestamp::from_millis(2)).expect("a scrape");
    assert_eq!(
        (changes(&lost), lost.unmatched_gpus),
        (Changes::new(), Some(Unmatched { no_owner: 1, ..Unmatched::default() }))
    );
    assert_eq!(lost.notes, [format!("no GPU here is that of endpoint {ENDPOINT}")]);
    assert_eq!(read(&mut ingest, &listed("70"), 3), expected(&[("GPUUtilization", Some((0.7, 3)))]));
    let temperature = "DCGM_FI_DEV_GPU_TEMP{UUID=\"a\",pod=\"p\"} 50\n";
    let changed = expected(&[("GPUUtilization", None), ("GPUTemperatureCelsius", Some((50.0, 4)))]);
    assert_eq!(read(&mut ingest, temperature, 4), changed);

    let nothing = ingest.read("process_start_time_seconds 1\n", Timestamp::from_millis(5)).expect("a scrape");
    assert_eq!(nothing.nothing_known, Some("no known GPU metric in this scrape"));
}

#[test]
fn the_pace_spreads_rests_and_backs_off() {
    let ms = Duration::from_millis;
    let pace = Schedule { interval: ms(200), max_backoff: ms(2_000) };
    assert_eq!((pace.first(0.0), pace.first(0.5)), (ms(0), ms(100)));
    assert_eq!(pace.after_success(ms(10), 0.5), ms(190));
    assert_eq!(pace.after_success(ms(0), 0.0), ms(180));
    assert_eq!(pace.after_success(ms(900), 0.5), ms(100), "a slow target rests for half an interval");
    let pauses: Vec<_> =
        [1, 2, 3, 4, 5, 50, u32::MAX].map(|failures| pace.after_failure(failures, 1.0).as_millis()).into();
    assert_eq!(pauses, [200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
    assert_eq!(pace.after_failure(5, 0.0), ms(1_600));
}

fn fetcher() -> Fetcher {
    Fetcher::new(Scrape { max_backoff: Duration::from_secs(2), max_response_bytes: 4_096 }).expect("a client")
}

async fn fetch(fetcher: &Fetcher, url: &str) -> Result<String, ScrapeError> {
    fetch_within(fetcher, url, Duration::from_secs(20)).await
}

async fn fetch_within(fetcher: &Fetcher, url: &str, timeout: Duration) -> Result<String, ScrapeError> {
    let target = TargetKey { url: Url::parse(url).expect("a URL"), access: Access::default() };
    fetcher.fetch(&target, timeout).await.map(|fetched| fetched.text)
}

#[tokio::test]
async fn a_fetch_fails_with_its_reason_and_keeps_its_connection() {
    let target = FakeTarget::text("up 1\n").await;
    let patient = fetcher();
    for _ in 0..3 {
        assert_eq!(fetch(&patient, &target.url()).await.expect("answered"), "up 1\n");
    }
    assert_eq!(target.connections(), 1);

    let cases = [
        (Answer::Status(401), "status", "answered 401 Unauthorized"),
        (Answer::Redirect(target.url()), "status", "answered 302 Found"),
        (Answer::Text("x".repeat(4_097)), "too_large", "the answer is longer than 4096 bytes"),
        (Answer::Endless, "too_large", "the answer is longer than 4096 bytes"),
    ];
    for (answer, kind, text) in cases {
        target.answers(answer);
        let error = fetch(&patient, &target.url()).await.expect_err(text);
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
    }
    target.answers(Answer::Hang);
    let error =
        fetch_within(&patient, &target.url(), Duration::from_millis(20)).await.expect_err("no answer");
    assert_eq!((error.kind(), error.to_string().as_str()), ("timeout", "no complete answer within 20ms"));

    let url = target.url();
    drop(target);
    let refused = async || fetch(&patient, &url).await.err().filter(|error| error.kind() == "connect");
    crate::testing::eventually("a refused connection", refused).await;
}

#[test]
fn an_engine_is_ready_when_it_answers_and_not_when_it_refuses_where_it_serves() {
    let ready = |ingested: &Ingested| {
        let all = ingested.changes.iter().flat_map(|(_, changes)| changes);
        let found = all.filter(|(_, attribute, _)| attribute == well_known::READY);
        found.map(|(_, _, sample)| sample.as_ref().and_then(|s| s.value.as_number())).collect::<Vec<_>>()
    };
    let mut ingest = engine();
    let at = Timestamp::from_millis;
    let scrape = "vllm:num_requests_waiting 3\n";
    assert_eq!(ready(&ingest.read(scrape, at(1_000)).expect("a scrape")), [Some(1.0)]);
    assert_eq!(ready(&ingest.refused(ENDPOINT, at(2_000))), [Some(0.0)]);
    assert_eq!(ready(&ingest.refused("10.0.0.1:9100", at(3_000))), [], "it serves elsewhere");
    assert_eq!(ready(&ingest.read(scrape, at(4_000)).expect("a scrape")), [Some(1.0)]);
    assert_eq!(ready(&gpus_of_pod("a").refused(ENDPOINT, at(5_000))), [], "an exporter is no engine");
}
