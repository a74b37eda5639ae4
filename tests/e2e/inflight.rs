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
async fn aborted_requests_are_released_and_cost_no_other() -> Outcome {
    let world = World::of(&["a", "b"]).start().await?;
    // 10,000 requests from 50 clients, of which a third leave at a random moment: before the response,
    // after its first bytes, or in between.
    let mut clients = JoinSet::new();
    for number in 0..50_u64 {
        let (url, mut rng) = (world.url("/v1/chat/completions"), fastrand::Rng::with_seed(number));
        clients.spawn(async move {
            let client = http::client();
            let mut failed = Vec::new();
            for _ in 0..200 {
                let body = http::chat("hello", 3, true).to_string();
                let whole =
                    async { client.post(&url).body(body).send().await?.error_for_status()?.bytes().await };
                if rng.u32(..10) < 3 {
                    let moment = Duration::from_micros(rng.u64(..60_000));
                    drop(tokio::time::timeout(moment, whole).await);
                } else if let Err(error) = whole.await {
                    failed.push(format!("{error:?}"));
                }
            }
            failed
        });
    }
    while let Some(failed) = clients.join_next().await {
        let failed = failed?;
        ensure!(failed.is_empty(), "{} requests that stayed failed: {:?}", failed.len(), failed.first());
    }
    world.until_nothing_in_flight().await?;
    let stats = world.envoy.stats().await?;
    ensure!(stats.get("headroom_requests_total.pool=qwen.outcome=scheduled") > 8_000, "{stats:?}");
    ensure!(stats.get("http.inference.downstream_rq_5xx") == 0, "{stats:?}");
    let reloads = world.envoy.ask("/stats?filter=vm_reload_success").await?;
    ensure!(reloads.trim_end().ends_with(": 0"), "a VM has failed: {reloads}");
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
