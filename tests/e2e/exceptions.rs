//! Who may serve at all: models, overload, endpoints that are new.

use std::time::Duration;

use anyhow::ensure;
use headroom_testbed::http;
use headroom_tests::{Decided, Outcome, World};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_is_served_where_an_engine_reports_it() -> Outcome {
    let world = World::of(&["a", "b"])
        .scheduling(json!({"filters": [{"type": "model-filter"}], "scorers": [{"type": "queue-scorer"}]}))
        .start()
        .await?;
    let known =
        |decided: &Decided| decided.answer.status == 200 && decided.decision.get("undecided").is_none();
    world.until_decision("the engines have said what they serve", Duration::from_secs(5), known).await?;
    let mut other = http::chat("hello", 2, false);
    other["model"] = json!("llama");
    let decided = world.post("/v1/chat/completions", other.to_string()).await?;
    ensure!(decided.answer.status == 503, "{decided:?}");
    ensure!(decided.answer.json()["error"]["code"] == "headroom_none_capable", "{decided:?}");
    ensure!(decided.answer.json()["error"]["message"].to_string().contains("llama"), "{decided:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_a_body_pass_the_filters_too() -> Outcome {
    let world = World::of(&["a", "b", "other"])
        .gpu_load(&[0.5, 0.5, 0.0])
        .labels(vec![
            json!({"llm-d.ai/model-family": "qwen"}),
            json!({"llm-d.ai/model-family": "qwen"}),
            json!({"llm-d.ai/model-family": "llama"}),
        ])
        .start()
        .await?;
    for _ in 0..10 {
        let decided = world.send(world.client.get(world.url("/v1/models"))).await?;
        ensure!(decided.answer.status == 200, "{decided:?}");
        let chosen = &decided.decision["outcome"]["chosen"][0];
        ensure!(*chosen != world.pool.address("other"), "{decided:?}");
        ensure!(decided.decision["excluded"][0]["name"] == "other", "{decided:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_pool_says_429_until_there_is_room() -> Outcome {
    let limit =
        json!({"type": "utilization-filter", "conditions": [{"metric": "active-requests", "maxValue": 1}]});
    let world = World::of(&["a"]).scheduling(json!({"filters": [limit]})).start().await?;
    let long = || {
        world.client.post(world.url("/v1/chat/completions")).body(http::chat("x", 20_000, true).to_string())
    };
    let running = [long().send().await?, long().send().await?];
    let decided = world.chat().await?;
    ensure!(decided.answer.status == 429, "{decided:?}");
    ensure!(decided.answer.header("x-llm-d-request-dropped-reason") == "rejected-saturated", "{decided:?}");
    let error = &decided.answer.json()["error"];
    ensure!(error["type"] == "rate_limit_error" && error["code"] == "headroom_saturated", "{error}");
    ensure!(error["message"].to_string().contains("active-requests <= 1"), "{error}");
    drop(running);
    let served = |decided: &Decided| decided.answer.status == 200;
    world.until_decision("there is room again", Duration::from_secs(10), served).await?;
    Ok(())
}

/// Its gauges appear with its first request, so without one it would never be known.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cold_endpoint_gets_its_first_request() -> Outcome {
    let world = World::of(&["a", "cold"])
        .replica("cold", json!({"metrics": "silent"}))
        .plugin(|plugin| plugin["pools"][0]["explorationProbability"] = json!(0.2))
        .start()
        .await?;
    let probed = |decided: &Decided| decided.decision["fallbacks"][0]["rule"] == "probe";
    let decided = world.until_decision("it is probed", Duration::from_secs(10), probed).await?;
    ensure!(decided.answer.served_by == "cold", "{decided:?}");
    world.pool.control("cold", json!({"metrics": "ok"})).await?;
    let measured = |decided: &Decided| {
        decided.score("cold", "queue-scorer").is_some_and(|part| part.get("missing").is_none())
    };
    world.until_decision("it is measured from then on", Duration::from_secs(5), measured).await?;
    Ok(())
}
