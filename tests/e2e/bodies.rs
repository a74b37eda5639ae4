//! Every kind of body gets the right endpoint or a clear 4xx, and reaches the endpoint as it was sent.

use std::{convert::Infallible, path::PathBuf, time::Duration};

use anyhow::{Context, ensure};
use bytes::Bytes;
use futures_util::stream;
use headroom_testbed::http;
use headroom_tests::{Outcome, Recorder, World, checksum};
use http_body::Frame;
use http_body_util::StreamBody;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::json;

use crate::on_both_envoys;

on_both_envoys!(bodies_arrive_byte_for_byte, what_cannot_be_read_is_a_clear_4xx);

/// A request that no body may keep waiting for ever.
const DEADLINE: Duration = Duration::from_secs(20);

/// A world in which the right endpoint tells what reached it; the other one has a hot GPU.
async fn recorded(
    envoy: Option<PathBuf>,
    first_filter: Option<serde_json::Value>,
) -> anyhow::Result<(World, Recorder)> {
    let recorder = Recorder::start().await?;
    let address = recorder.address.clone();
    let world = World::of(&["a", "hot"])
        .envoy(envoy)
        .gpu_load(&[0.0, 0.99])
        .envoy_config(move |config| first_filter.map_or(Ok(()), |filter| config.insert_filter_first(filter)))
        .companion(move |config, pool| {
            let endpoint = &mut config["pools"][0]["endpoints"][0];
            endpoint["metrics"] = format!("http://{}/metrics", pool.addresses[0]).into();
            endpoint["address"] = address.into();
        })
        .start()
        .await?;
    let measured =
        |stats: &headroom_testbed::stats::Stats| stats.get("headroom_pool_endpoints.pool=qwen") == 2;
    world.envoy.until_stats("both endpoints are known", DEADLINE, measured).await?;
    let excluded = |decided: &headroom_tests::Decided| decided.decision["excluded"][0]["name"] == "hot";
    world.until_decision("the hot one is left out", DEADLINE, excluded).await?;
    Ok((world, recorder))
}

fn body(bytes: usize) -> String {
    json!({"model": "qwen", "prompt": "é".repeat(bytes / 2)}).to_string()
}

fn in_chunks(body: &str, size: usize) -> Vec<Result<Frame<Bytes>, Infallible>> {
    body.as_bytes().chunks(size).map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk)))).collect()
}

async fn bodies_arrive_byte_for_byte(envoy: Option<PathBuf>) -> Outcome {
    let (world, _recorder) = recorded(envoy, None).await?;
    let url = world.url("/v1/completions");
    let h2 = http::client_h2();
    let mut trailers = HeaderMap::new();
    trailers.insert("x-checksum", HeaderValue::from_static("1"));
    for size in [100, 40_000, 300_000, 3_000_000, 5_000_000] {
        let sent = body(size);
        let mut with_trailers = in_chunks(&sent, 20_000);
        with_trailers.push(Ok(Frame::trailers(trailers.clone())));
        for (what, request) in [
            ("content-length", world.client.post(&url).body(sent.clone())),
            (
                "chunked",
                world
                    .client
                    .post(&url)
                    .body(reqwest::Body::wrap(StreamBody::new(stream::iter(in_chunks(&sent, 20_000))))),
            ),
            ("HTTP/2", h2.post(&url).body(sent.clone())),
            (
                "HTTP/2 with trailers",
                h2.post(&url).body(reqwest::Body::wrap(StreamBody::new(stream::iter(with_trailers)))),
            ),
        ] {
            let decided = tokio::time::timeout(DEADLINE, world.send(request)).await;
            let decided = decided.with_context(|| format!("{what}, {size} bytes: hangs"))??;
            let seen = decided.answer.json();
            ensure!(
                decided.answer.status == 200 && !decided.decision.is_null(),
                "{what}, {size}: {decided:?}"
            );
            ensure!(seen["length"] == sent.len(), "{what}: sent {}, arrived {}", sent.len(), seen["length"]);
            ensure!(
                seen["checksum"] == checksum(sent.as_bytes()),
                "{what}, {size} bytes: not the bytes sent"
            );
        }
    }
    Ok(())
}

async fn what_cannot_be_read_is_a_clear_4xx(envoy: Option<PathBuf>) -> Outcome {
    let (world, _recorder) = recorded(envoy, None).await?;
    let cases: [(&str, Vec<u8>, &str); 7] = [
        ("empty", vec![], "empty"),
        ("not JSON", b"model=qwen".to_vec(), "not a JSON object"),
        ("an array", br#"["qwen"]"#.to_vec(), "not a JSON object"),
        ("cut", br#"{"model":"qwen","#.to_vec(), "not valid"),
        ("no model", br#"{"prompt":"x"}"#.to_vec(), "names no model"),
        ("two models", br#"{"model":"a","model":"b"}"#.to_vec(), "duplicate field `model`"),
        ("bytes", vec![0xff, 0x00, 0x7b], "not a JSON object"),
    ];
    for (what, bytes, part) in cases {
        let decided =
            tokio::time::timeout(DEADLINE, world.post("/v1/completions", bytes)).await.context(what)??;
        ensure!(decided.answer.status == 400, "{what}: {decided:?}");
        let error = decided.answer.json()["error"].clone();
        ensure!(error["type"] == "invalid_request_error", "{what}: {error}");
        ensure!(error["message"].as_str().is_some_and(|message| message.contains(part)), "{what}: {error}");
    }
    let too_long = tokio::time::timeout(DEADLINE, world.post("/v1/completions", body(17 << 20))).await??;
    ensure!(too_long.answer.status == 413 && too_long.answer.body.contains("16777216"), "{too_long:?}");
    let good = world.post("/v1/completions", body(100)).await?;
    ensure!(good.answer.status == 200, "a bad body costs only itself");
    Ok(())
}

/// A filter before ours that holds bodies, as Envoy's own buffer filter does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_filter_that_holds_the_body_does_no_harm() -> Outcome {
    let buffer = json!({
        "name": "envoy.filters.http.buffer",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer",
            "max_request_bytes": 8_000_000,
        },
    });
    let (world, _recorder) = recorded(None, Some(buffer)).await?;
    for size in [6_000, 64_000, 1_000_000] {
        let sent = body(size);
        let chunks = reqwest::Body::wrap(StreamBody::new(stream::iter(in_chunks(&sent, 20_000))));
        let decided = tokio::time::timeout(DEADLINE, world.post("/v1/completions", chunks)).await??;
        ensure!(decided.answer.json()["checksum"] == checksum(sent.as_bytes()), "{size} bytes: {decided:?}");
        ensure!(!decided.decision.is_null());
    }
    Ok(())
}

/// A filter before ours that rewrites bodies: the picker reads what it has made of them. Here that shows
/// because the client's own body names no model.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_picker_reads_the_body_that_a_filter_before_it_has_written() -> Outcome {
    let script = r#"
        function envoy_on_request(handle)
          local body = handle:body(true)
          local text = body:getBytes(0, body:length())
          local length = body:setBytes((string.gsub(text, '"alias":"small"', '"model":"rewritten-to-a-longer-name"')))
          handle:headers():replace("content-length", length)
        end"#;
    let lua = json!({
        "name": "envoy.filters.http.lua",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            "default_source_code": {"inline_string": script},
        },
    });
    let (world, _recorder) = recorded(None, Some(lua)).await?;
    let sent = format!(r#"{{"alias":"small","prompt":"{}"}}"#, "x".repeat(64_000));
    let written = sent.replace(r#""alias":"small""#, r#""model":"rewritten-to-a-longer-name""#);
    let sizes = [20_000, 20_000, sent.len() - 40_000];
    let mut rest = sent.as_bytes();
    let chunks: Vec<Result<Frame<Bytes>, Infallible>> = sizes
        .into_iter()
        .map(|size| {
            let (chunk, tail) = rest.split_at(size);
            rest = tail;
            Ok(Frame::data(Bytes::copy_from_slice(chunk)))
        })
        .collect();
    let chunked = reqwest::Body::wrap(StreamBody::new(stream::iter(chunks)));
    let decided = tokio::time::timeout(DEADLINE, world.post("/v1/completions", chunked)).await??;
    let seen = decided.answer.json();
    ensure!(decided.answer.status == 200 && !decided.decision.is_null(), "{decided:?}");
    ensure!(seen["length"] == written.len() && seen["checksum"] == checksum(written.as_bytes()), "{seen}");
    Ok(())
}
