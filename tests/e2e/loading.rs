//! The filter is loaded, and odd requests come, while others are served.

use std::time::Duration;

use anyhow::ensure;
use headroom_testbed::binaries;
use headroom_testbed::envoy_config::{discovered_filter, replace_file};
use headroom_testbed::load::{self, Workload};
use headroom_tests::{Outcome, World, show_decisions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_the_filter_is_being_added() -> Outcome {
    let watched = tempfile::tempdir()?;
    let path = watched.path().join("ecds.json");
    // The file is there and names no filter yet.
    replace_file(&path, &serde_json::json!({"resources": []}))?;
    let watch = path.clone();
    let mut world = World::of(&["a", "b"])
        .template("envoy-ecds.yaml")
        .envoy_config(move |config| config.watch_filter(&watch))
        .without_companion()
        .start()
        .await?;
    let plan = Workload {
        rate: 100.0,
        length: Duration::from_secs(5),
        prompt_tokens: 20,
        output_tokens: 2,
        seed: 2,
    };
    let (client, url) = (world.client.clone(), world.envoy.url());
    let load = tokio::spawn(async move { load::run(&client, &url, plan.plan()).await });
    ensure!(world.chat().await?.answer.status == 200, "Envoy balances without the filter");
    replace_file(&path, &discovered_filter(&binaries::module()?, show_decisions)?)?;
    world.start_companion().await?;
    world.until_decision("the filter schedules", Duration::from_secs(10), |d| !d.decision.is_null()).await?;
    let outcomes = load.await?;
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.error.as_ref()).collect();
    ensure!(failed.is_empty(), "{} of {} failed: {:?}", failed.len(), outcomes.len(), failed.first());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_requests_cost_no_later_one() -> Outcome {
    let world = World::of(&["a", "b"]).start().await?;
    let odd: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\nhost: x\r\nx-odd: \xff\xfe\r\nx-prefiller-host-port: \xff\r\nconnection: close\r\n\r\n",
    ];
    for request in odd {
        let mut stream = tokio::net::TcpStream::connect(world.envoy.listener()).await?;
        stream.write_all(request).await?;
        let mut answer = Vec::new();
        tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await??;
        ensure!(answer.starts_with(b"HTTP/1.1 "), "{:?}", String::from_utf8_lossy(request));
    }
    // A body that is promised and never ends.
    let mut stream = tokio::net::TcpStream::connect(world.envoy.listener()).await?;
    stream
        .write_all(b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{\"model\":")
        .await?;
    drop(stream);
    for _ in 0..100 {
        ensure!(world.chat().await?.answer.status == 200);
    }
    world.until_nothing_in_flight().await
}
