use crate::extract::{EngineMemory, EngineReading, Families, extract_engine};
use std::net::SocketAddr;

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::codegen::Service;

use super::*;
use crate::testing::eventually;

/// Two fast endpoints on free ports, the second with a small cache.
const POOL: &str = r#"
seed: 1
model: [llama, llama-chat]
exporter: {listen: "127.0.0.1:0"}
stepMs: 1
perSequenceStepMs: 0
prefillMsPerToken: 0
jitter: 0
endpoints:
  - {name: a, listen: "127.0.0.1:0", gpu: {uuid: GPU-a}}
  - {name: b, listen: "127.0.0.1:0", gpu: {uuid: GPU-b}, kvBlocks: 8}
"#;

struct Fixture {
    pool: Running,
    client: Client,
}

impl Fixture {
    async fn start() -> Self {
        let pool = Running::start(config::parse(POOL).expect("valid")).await.expect("starts");
        Self { pool, client: Client::new() }
    }

    fn address(&self, name: &str) -> SocketAddr {
        self.pool.addresses.endpoints[name]
    }

    async fn get(&self, name: &str, path: &str) -> Response {
        let url = format!("http://{}{path}", self.address(name));
        self.client.get(url).send().await.expect("an answer")
    }

    async fn post(&self, name: &str, path: &str, body: impl Into<reqwest::Body>) -> Response {
        let url = format!("http://{}{path}", self.address(name));
        self.client.post(url).body(body).send().await.expect("an answer")
    }

    async fn chat(&self, name: &str, body: Value) -> Response {
        self.post(name, "/v1/chat/completions", body.to_string()).await
    }

    async fn exporter(&self, path: &str) -> Response {
        let url = format!("http://{}{path}", self.pool.addresses.exporter);
        self.client.get(url).send().await.expect("an answer")
    }

    async fn control(&self, path: &str, body: Value) -> Response {
        let url = format!("http://{}/control{path}", self.pool.addresses.exporter);
        self.client.post(url).body(body.to_string()).send().await.expect("an answer")
    }

    /// What `/control` shows of an endpoint.
    async fn state(&self, name: &str) -> Value {
        json_of(self.exporter("/control").await).await["endpoints"][name].clone()
    }
}

async fn json_of(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON")
}

/// The data of every event.
async fn events(response: Response) -> Vec<String> {
    let text = response.text().await.expect("a body");
    let events = text.split_terminator("\n\n");
    events.map(|event| event.strip_prefix("data: ").expect("an event").to_owned()).collect()
}

fn message(content: &str) -> Value {
    json!([{ "role": "user", "content": content }])
}

#[tokio::test]
async fn a_chat_completion_has_text_and_usage() {
    let fixture = Fixture::start().await;
    let long = "the same long question ".repeat(10);
    let body = json!({ "model": "llama-chat", "messages": message(&long), "max_tokens": 5, "unknown": 1 });
    let response = fixture.chat("a", body.clone()).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["x-served-by"], "a");
    let first = json_of(response).await;
    assert_eq!(first["object"], "chat.completion");
    assert_eq!(first["model"], "llama-chat");
    let choice = &first["choices"][0];
    assert_eq!(choice["message"]["role"], "assistant");
    assert_eq!(choice["message"]["content"].as_str().expect("text").len(), 20);
    assert_eq!(choice["finish_reason"], "length");
    // Role, end of turn and the assistant's role are a token each.
    let usage = json!({
        "prompt_tokens": 61, "completion_tokens": 5, "total_tokens": 66,
        "prompt_tokens_details": { "cached_tokens": 0 },
    });
    assert_eq!(first["usage"], usage);
    let second = json_of(fixture.chat("a", body).await).await;
    assert_eq!(second["usage"]["prompt_tokens_details"]["cached_tokens"], 48);
    assert_eq!(second["choices"], first["choices"]);
}

#[tokio::test]
async fn a_stream_gives_one_event_for_each_token() {
    let fixture = Fixture::start().await;
    let body = json!({
        "messages": message("hello"), "max_completion_tokens": 3, "stream": true,
        "stream_options": { "include_usage": true },
    });
    let response = fixture.chat("a", body).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
    let events = events(response).await;
    let [role, one, two, three, usage, done] = events.as_slice() else { panic!("{events:?}") };
    let parse = |event: &String| serde_json::from_str::<Value>(event).expect("JSON");
    assert_eq!(parse(role)["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
    for token in [one, two, three] {
        assert_eq!(parse(token)["object"], "chat.completion.chunk");
        assert_eq!(parse(token)["choices"][0]["delta"]["content"].as_str().expect("text").len(), 4);
    }
    assert_eq!(parse(two)["choices"][0]["finish_reason"], Value::Null);
    assert_eq!(parse(three)["choices"][0]["finish_reason"], "length");
    assert_eq!(parse(usage)["choices"], json!([]));
    assert_eq!(parse(usage)["usage"]["completion_tokens"], 3);
    assert_eq!(done, "[DONE]");
}

#[tokio::test]
async fn text_completions_take_text_and_token_numbers() {
    let fixture = Fixture::start().await;
    for (prompt, tokens) in
        [(json!("12345678"), 2), (json!(["123456789"]), 3), (json!([1, 2, 3]), 3), (json!([[1, 2]]), 2)]
    {
        let body = json!({ "model": "llama", "prompt": prompt });
        let answer = json_of(fixture.post("a", "/v1/completions", body.to_string()).await).await;
        assert_eq!(answer["object"], "text_completion");
        assert_eq!(answer["usage"]["prompt_tokens"], tokens, "{answer}");
        assert_eq!(answer["usage"]["completion_tokens"], 64);
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    }
    let body = json!({ "prompt": "hi", "max_tokens": 2, "stream": true });
    let events = events(fixture.post("a", "/v1/completions", body.to_string()).await).await;
    assert_eq!(events.len(), 3, "{events:?}");
}

#[tokio::test]
async fn what_cannot_be_served_is_an_error_of_the_api() {
    let fixture = Fixture::start().await;
    let chat = "/v1/chat/completions";
    for (path, body, status, part) in [
        (chat, "{", 400, "not JSON"),
        (chat, "[]", 400, "must be a JSON object"),
        (chat, "{}", 400, "missing field `messages`"),
        (chat, r#"{"messages": []}"#, 400, "messages must not be empty"),
        (chat, r#"{"messages": [{"role": "user", "content": 7}]}"#, 400, "messages[0].content"),
        (chat, r#"{"model": "gpt", "messages": [{"role": "user"}]}"#, 404, "`gpt` does not exist"),
        (chat, r#"{"messages": [{"role": "user"}], "max_tokens": 0}"#, 400, "at least one token"),
        (chat, r#"{"messages": [{"role": "user"}], "max_tokens": 200}"#, 400, "128 tokens"),
        (chat, r#"{"messages": [{"role": "user"}], "n": 2}"#, 400, "n must be 1"),
        ("/v1/completions", r#"{"prompt": ""}"#, 400, "the prompt is empty"),
        ("/v1/completions", r#"{"prompt": ["a", "b"]}"#, 400, "not several"),
        ("/v1/embeddings", "{}", 404, "nothing under this path"),
        ("/health", "{}", 405, "does not take this method"),
    ] {
        let response = fixture.post("b", path, body).await;
        assert_eq!(response.status().as_u16(), status, "{path} {body}");
        assert_eq!(response.headers()["x-served-by"], "b");
        let error = json_of(response).await;
        let message = error["error"]["message"].as_str().expect("a message");
        assert!(message.contains(part), "{body}: {message}");
        assert_eq!(error["error"]["code"], status);
    }
}

#[tokio::test]
async fn models_and_health_answer() {
    let fixture = Fixture::start().await;
    assert_eq!(fixture.get("a", "/health").await.status(), StatusCode::OK);
    let models = json_of(fixture.get("b", "/v1/models").await).await;
    let names: Vec<_> = models["data"].as_array().expect("a list").iter().map(|model| &model["id"]).collect();
    assert_eq!(names, ["llama", "llama-chat"]);
    assert_eq!(models["data"][0]["max_model_len"], 128);
}

#[tokio::test]
async fn the_echo_tells_what_arrived() {
    let fixture = Fixture::start().await;
    let body = vec![b'x'; 5 * 1024 * 1024];
    let url = format!("http://{}/echo?a=b", fixture.address("a"));
    let request = fixture.client.post(url).header("x-test", "1").header("x-test", "2").body(body.clone());
    let echo = json_of(request.send().await.expect("an answer")).await;
    assert_eq!(echo["method"], "POST");
    assert_eq!(echo["path"], "/echo?a=b");
    assert_eq!(echo["headers"]["x-test"], json!(["1", "2"]));
    assert_eq!(echo["bodyLength"], body.len());
    let mut hash = fnv::Fnv::default();
    hash.bytes(&body);
    assert_eq!(echo["bodyFnv1a"], format!("{:016x}", hash.value()));
}

#[tokio::test]
async fn the_echo_tells_trailers() {
    let fixture = Fixture::start().await;
    let mut connection = TcpStream::connect(fixture.address("a")).await.expect("connects");
    let request = "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntrailer: x-end\r\n\
                   connection: close\r\n\r\n3\r\nabc\r\n0\r\nx-end: yes\r\n\r\n";
    connection.write_all(request.as_bytes()).await.expect("writes");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.expect("reads");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    let echo: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(echo["trailers"]["x-end"], json!(["yes"]));
    assert_eq!(echo["bodyLength"], 3);
}

#[tokio::test]
async fn http2_without_tls_is_spoken() {
    let fixture = Fixture::start().await;
    let uri = format!("http://{}", fixture.address("a"));
    let mut channel =
        tonic::transport::Endpoint::from_shared(uri).expect("a URL").connect().await.expect("connects");
    let request = axum::http::Request::get("/echo").body(tonic::body::Body::empty()).expect("a request");
    std::future::poll_fn(|cx| channel.poll_ready(cx)).await.expect("ready");
    let response = channel.call(request).await.expect("an answer");
    assert_eq!(response.version(), axum::http::Version::HTTP_2);
    assert_eq!(response.headers()["x-served-by"], "a");
}

#[tokio::test]
async fn the_companion_reads_the_engine_metrics() {
    let fixture = Fixture::start().await;
    for _ in 0..2 {
        fixture.chat("a", json!({ "messages": message(&"x".repeat(400)), "max_tokens": 2 })).await;
    }
    let text = fixture.get("a", "/metrics").await.text().await.expect("text");
    let parsed = headroom_exposition::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let vllm = EngineReading::default();
    let extraction =
        extract_engine(&vllm, &Families::new(&parsed, crate::clock::now()), &mut EngineMemory::default());
    assert!(extraction.notes.is_empty(), "{:?}", extraction.notes);
    let number =
        |attribute: &str| extraction.facts.get(attribute).and_then(|sample| sample.value.as_number());
    assert_eq!(number("WaitingQueueSize"), Some(0.0));
    assert_eq!(number("RunningRequestsSize"), Some(0.0));
    assert_eq!(number("KVCacheUsagePercent"), Some(0.0));
    assert_eq!(number("CacheBlockSize"), Some(16.0));
    assert_eq!(number("CacheNumBlocks"), Some(4096.0));
    // 103 tokens each; of the second prompt the six full blocks are known.
    assert_eq!(number("PrefixCacheHitRate"), Some(96.0 / 206.0));
    let labels = "{engine=\"0\",model_name=\"llama\"";
    for line in [
        format!("vllm:prompt_tokens_total{labels}}} 206\n"),
        format!("vllm:generation_tokens_total{labels}}} 4\n"),
        format!("vllm:request_success_total{labels},finished_reason=\"length\"}} 2\n"),
        format!("vllm:time_to_first_token_seconds_count{labels}}} 2\n"),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
}

#[tokio::test]
async fn the_exporter_shows_load_and_what_is_injected() {
    let fixture = Fixture::start().await;
    fixture.control("/b", json!({ "gpuLoad": 0.875 })).await;
    let text = fixture.exporter("/metrics").await.text().await.expect("text");
    let parsed = headroom_exposition::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let value = |metric: &str, uuid: &str| {
        let of = |sample: &&headroom_exposition::Sample<'_>| {
            sample.name == metric && sample.label("UUID") == Some(uuid)
        };
        parsed.samples.iter().find(of).map(|sample| sample.value)
    };
    assert_eq!(value("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "GPU-a"), Some(0.0));
    assert_eq!(value("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "GPU-b"), Some(0.875));
    assert_eq!(value("DCGM_FI_DEV_GPU_UTIL", "GPU-b"), Some(88.0));
    assert_eq!(value("DCGM_FI_DEV_FB_USED", "GPU-a"), Some(73_403.0));
    assert_eq!(value("DCGM_FI_DEV_FB_FREE", "GPU-a"), Some(8_156.0));
    assert!(text.contains("pci_bus_id=\"00000000:01:00.0\",device=\"nvidia1\""), "{text}");
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_request() {
    let fixture = Fixture::start().await;
    fixture.control("/a", json!({ "speed": 0.01 })).await;
    for stream in [true, false] {
        let body = json!({ "messages": message("hi"), "max_tokens": 60_000, "stream": stream });
        let url = format!("http://{}/v1/chat/completions", fixture.address("a"));
        let request = tokio::spawn(fixture.client.post(url).body(body.to_string()).send());
        eventually("running", async || (fixture.state("a").await["running"] == 1).then_some(())).await;
        let before = fixture.state("a").await["aborted"].as_u64();
        request.abort();
        drop(request.await);
        let aborted = async || {
            let state = fixture.state("a").await;
            (state["running"] == 0 && state["aborted"].as_u64() > before).then_some(state)
        };
        assert_eq!(eventually("cancelled", aborted).await["kvUsage"], 0.0);
    }
}

#[tokio::test]
async fn control_makes_metrics_and_answers_fail() {
    let fixture = Fixture::start().await;
    let stalls = async |url: String| {
        let request = fixture.client.get(url).timeout(std::time::Duration::from_millis(100)).send();
        request.await.is_err_and(|error| error.is_timeout())
    };
    fixture.control("/a", json!({ "metrics": "error", "exporter": "error" })).await;
    assert_eq!(fixture.get("a", "/metrics").await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(fixture.get("b", "/metrics").await.status(), StatusCode::OK);
    assert_eq!(fixture.exporter("/metrics").await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    fixture.control("/a", json!({ "metrics": "silent" })).await;
    let silent = fixture.get("a", "/metrics").await.text().await.expect("text");
    assert!(silent.contains("vllm:cache_config_info") && !silent.contains("vllm:num_requests"), "{silent}");
    fixture.control("", json!({ "metrics": "stall", "exporter": "stall", "hang": true })).await;
    assert!(stalls(format!("http://{}/metrics", fixture.address("b"))).await);
    assert!(stalls(format!("http://{}/health", fixture.address("b"))).await);
    assert!(stalls(format!("http://{}/metrics", fixture.pool.addresses.exporter)).await);
    fixture.control("", json!({ "metrics": "ok", "exporter": "ok", "hang": false })).await;
    assert_eq!(fixture.get("b", "/metrics").await.status(), StatusCode::OK);
    assert_eq!(fixture.get("b", "/health").await.status(), StatusCode::OK);
    assert_eq!(fixture.exporter("/metrics").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn control_refuses_what_it_does_not_know() {
    let fixture = Fixture::start().await;
    for (path, body, status, part) in [
        ("/c", json!({}), StatusCode::NOT_FOUND, "there are: a, b"),
        ("/a", json!({ "gpuLoad": 2 }), StatusCode::BAD_REQUEST, "must be from 0 to 1"),
        ("", json!({ "gpu": 2 }), StatusCode::BAD_REQUEST, "unknown field `gpu`"),
    ] {
        let response = fixture.control(path, body).await;
        assert_eq!(response.status(), status);
        let error = json_of(response).await["error"].to_string();
        assert!(error.contains(part), "{error}");
    }
    let changed = json_of(fixture.control("/a", json!({ "speed": 2, "gpuLoad": 0.5 })).await).await;
    assert_eq!(changed["endpoints"]["a"]["speed"], 2.0);
    assert_eq!(fixture.state("a").await["gpuLoad"], 0.5);
    assert_eq!(fixture.state("b").await["speed"], 1.0);
}

#[tokio::test]
async fn the_addresses_are_written_once_everything_listens() {
    let file = std::env::temp_dir().join(format!("headroom-addresses-{}", std::process::id()));
    let fixture = Fixture::start().await;
    fixture.pool.addresses.write(&file).expect("written");
    let read: Value = serde_json::from_slice(&std::fs::read(&file).expect("there")).expect("JSON");
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(read["exporter"], fixture.pool.addresses.exporter.to_string());
    assert_eq!(read["endpoints"]["b"], fixture.address("b").to_string());
}
