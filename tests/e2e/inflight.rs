//! What the proxy has sent counts at once, and is released exactly once.

use std::{collections::BTreeMap, time::Duration};

use anyhow::ensure;
use headroom_testbed::http;
use headroom_tests::{Outcome, World};
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_between_two_scrapes_spreads_over_equal_endpoints() -> Outcome {
    let world = World::of(&["a", "b", "c", "d"])
        .workers(1)
        .companion(|config, _| config["scrape"] = json!({"interval": "30s", "timeout": "1s"}))
        .start()
        .await?;
    let mut burst = JoinSet::new();
    for _ in 0..100 {
        let (client, url) = (world.client.clone(), world.url("/v1/chat/completions"));
        burst.spawn(
            async move { http::post(&client, &url, http::chat("hello", 20, false).to_string()).await },
        );
    }
    let mut served: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(answer) = burst.join_next().await {
        let answer = answer??;
        ensure!(answer.status == 200, "{answer:?}");
        *served.entry(answer.served_by).or_default() += 1;
    }
    ensure!(served.values().all(|count| *count <= 35), "{served:?}");
    world.until_nothing_in_flight().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_requests_are_released() -> Outcome {
    let world = World::of(&["a", "b"]).start().await?;
    let before = world.envoy.stats().await?.get("headroom_requests_total.pool=qwen.outcome=scheduled");
    let mut requests = JoinSet::new();
    for round in 0..200_u32 {
        let (client, url) = (http::client(), world.url("/v1/chat/completions"));
        requests.spawn(async move {
            let body = http::chat("hello", 50, true).to_string();
            let sent = client.post(url).body(body).send();
            // A third leaves before the response, a third after its first chunk, a third stays.
            match round % 3 {
                0 => drop(tokio::time::timeout(Duration::from_millis(u64::from(round % 30)), sent).await),
                1 => drop(async { sent.await?.chunk().await }.await),
                _ => drop(async { sent.await?.bytes().await }.await),
            }
        });
    }
    while requests.join_next().await.is_some() {}
    ensure!(
        world.envoy.stats().await?.get("headroom_requests_total.pool=qwen.outcome=scheduled") > before + 60
    );
    world.until_nothing_in_flight().await?;
    for _ in 0..10 {
        ensure!(world.chat().await?.answer.status == 200, "an aborted request costs no later one");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timed_out_requests_are_released() -> Outcome {
    let route = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config/virtual_hosts/0/routes/0/route";
    let world = World::of(&["a", "b"])
        .envoy_config(move |config| config.set(&format!("{route}/timeout"), json!("0.5s")))
        .start()
        .await?;
    for name in ["a", "b"] {
        world.pool.control(name, json!({"hang": true})).await?;
    }
    let mut requests = JoinSet::new();
    for _ in 0..20 {
        let (client, url) = (world.client.clone(), world.url("/v1/chat/completions"));
        requests
            .spawn(async move { http::post(&client, &url, http::chat("hello", 2, false).to_string()).await });
    }
    let seen = |stats: &headroom_testbed::stats::Stats| stats.sum("headroom_inflight_requests") > 0;
    world.envoy.until_stats("requests are in flight", Duration::from_secs(5), seen).await?;
    while let Some(answer) = requests.join_next().await {
        ensure!(answer??.status == 504);
    }
    world.until_nothing_in_flight().await
}
