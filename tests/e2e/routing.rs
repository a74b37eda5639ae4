//! Live GPU and engine state decide where a request goes.

use std::{path::PathBuf, time::Duration};

use anyhow::ensure;
use headroom_testbed::http;
use headroom_tests::{Outcome, World};
use serde_json::json;

use crate::on_both_envoys;

on_both_envoys!(traffic_follows_the_gpus);

/// Long enough that two of them are a deadline a busy machine can keep.
const INTERVAL: Duration = Duration::from_secs(1);

async fn traffic_follows_the_gpus(envoy: Option<PathBuf>) -> Outcome {
    // The fourth is idle and serves another model. Only the GPU decides here: what the engines report
    // of the test's own requests would come between.
    let world = World::of(&["a", "b", "c", "other"])
        .envoy(envoy)
        .gpu_load(&[0.6, 0.1, 0.7, 0.0])
        .plugin(|plugin| {
            let pool = &mut plugin["pools"][0];
            let scorers = pool["scorers"].as_array().cloned().unwrap_or_default();
            pool["scorers"] = scorers.into_iter().filter(|scorer| scorer["name"] == "gpu-headroom").collect();
        })
        .companion(|config, _| {
            config["scrape"] = json!({"interval": "1s", "timeout": "500ms"});
            config["pools"][0]["endpoints"][3]["labels"] = json!({"llm-d.ai/model-family": "llama"});
        })
        .start()
        .await?;
    let on = |name: &'static str| move |decided: &headroom_tests::Decided| decided.answer.served_by == name;
    world.until_decision("the least loaded GPU serves", 2 * INTERVAL, on("b")).await?;
    for _ in 0..10 {
        ensure!(world.chat().await?.answer.served_by == "b");
    }
    world.pool.control("b", json!({"gpuLoad": 0.97})).await?;
    let moved = world.until_decision("traffic moves away from the hot GPU", 2 * INTERVAL, on("a")).await?;
    let excluded = moved.decision["excluded"].to_string();
    ensure!(excluded.contains("gpu-utilization-filter"), "{excluded}");
    for _ in 0..10 {
        ensure!(world.chat().await?.answer.served_by != "b");
    }
    world.pool.control("b", json!({"gpuLoad": 0.1})).await?;
    world.until_decision("traffic returns to the cool GPU", 2 * INTERVAL, on("b")).await?;
    Ok(())
}

/// The config that ships: the endpoint whose engine is busy with somebody else's requests gets none. Four of
/// them wait, because a scrape may see this test's own request waiting at the idle one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_engine_is_avoided_whoever_made_it_busy() -> Outcome {
    let world = World::of(&["busy", "idle"]).engine(json!({"maxRunning": 4})).start().await?;
    let url = format!("http://{}/v1/chat/completions", world.pool.address("busy"));
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(
            world
                .client
                .post(&url)
                .body(http::chat("not through Envoy", 20_000, true).to_string())
                .send()
                .await?,
        );
    }
    let reported = |decided: &headroom_tests::Decided| {
        let part = decided.score("busy", "queue-scorer");
        part.is_some_and(|part| part["value"].as_f64() == Some(4.0))
    };
    world.until_decision("the engine's report has arrived", Duration::from_secs(10), reported).await?;
    for _ in 0..20 {
        let decided = world.chat().await?;
        ensure!(decided.answer.served_by == "idle", "{decided:?}");
    }
    drop(others);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn above_the_limit_the_least_bad_serves_and_the_decision_says_so() -> Outcome {
    let world = World::of(&["a", "b", "c"]).gpu_load(&[0.95, 0.92, 0.97]).start().await?;
    let fallback =
        |decided: &headroom_tests::Decided| decided.decision["fallbacks"][0]["rule"] == "least bad";
    let decided = world.until_decision("the fallback is used", Duration::from_secs(5), fallback).await?;
    ensure!(decided.answer.status == 200 && decided.answer.served_by == "b", "{decided:?}");
    ensure!(decided.decision["fallbacks"][0]["filter"] == "gpu-utilization-filter");
    let counter = "headroom_fallbacks_total.pool=qwen.rule=least_bad.filter=gpu-utilization-filter";
    ensure!(world.envoy.stats().await?.get(counter) > 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_capable_endpoint_the_503_names_filter_and_constraint() -> Outcome {
    let world = World::of(&["a", "b"])
        .plugin(|plugin| plugin["pools"][0]["filters"][0]["selector"] = json!("llm-d.ai/model-family=llama"))
        .start()
        .await?;
    let decided = world.chat().await?;
    ensure!(decided.answer.status == 503, "{decided:?}");
    ensure!(decided.answer.header("content-type") == "application/json");
    ensure!(decided.answer.header("x-llm-d-request-dropped-reason") == "rejected-no-endpoints");
    let message = decided.answer.json()["error"]["message"].to_string();
    for part in ["label-selector-filter", "llm-d.ai/model-family=llama"] {
        ensure!(message.contains(part), "{part} in {message}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn never_scraped_is_not_idle_and_stale_is_missing_until_it_is_fresh_again() -> Outcome {
    let attributes = ["WaitingQueueSize", "RunningRequestsSize", "KVCacheUsagePercent"];
    let max_age: serde_json::Map<_, _> =
        attributes.iter().map(|name| ((*name).to_owned(), json!("1s"))).collect();
    let world = World::of(&["a", "b", "mute"])
        .gpu_load(&[0.5, 0.5, 0.0])
        .replica("mute", json!({"metrics": "error"}))
        .plugin(|plugin| plugin["pools"][0]["maxAge"] = max_age.into())
        .start()
        .await?;
    let queue = |decided: &headroom_tests::Decided, name: &str| {
        decided
            .score(name, "queue-scorer")
            .map(|part| part["missing"].as_str().unwrap_or("measured").to_owned())
    };
    let measured = |decided: &headroom_tests::Decided| queue(decided, "a").as_deref() == Some("measured");
    world.until_decision("a is measured", Duration::from_secs(5), measured).await?;
    for _ in 0..20 {
        let decided = world.chat().await?;
        ensure!(decided.answer.served_by != "mute", "an endpoint that was never scraped won: {decided:?}");
        ensure!(queue(&decided, "mute").as_deref() == Some("never measured"), "{decided:?}");
    }
    world.pool.control("a", json!({"metrics": "stall"})).await?;
    let stale =
        |decided: &headroom_tests::Decided| queue(decided, "a").is_some_and(|why| why.starts_with("stale"));
    let decided = world.until_decision("a's values expire", Duration::from_secs(5), stale).await?;
    ensure!(decided.answer.served_by == "b", "{decided:?}");
    world.pool.control("a", json!({"metrics": "ok"})).await?;
    world.until_decision("a is measured again", Duration::from_secs(5), measured).await?;
    Ok(())
}
