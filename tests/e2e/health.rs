//! An endpoint whose answers are failures is left out.

use std::time::Duration;

use anyhow::ensure;
use axum::{Router, http::StatusCode};
use headroom_tests::{Outcome, World};
use serde_json::json;

/// Answers everything with this status.
async fn answering(status: StatusCode) -> anyhow::Result<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let router = Router::new().fallback(move || async move { status });
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_fails_is_ejected_and_comes_back() -> Outcome {
    // It looks best: nothing ever runs there.
    let world = World::of(&["a", "b", "broken"])
        .stand_in(2, answering(StatusCode::INTERNAL_SERVER_ERROR).await?)
        .gpu_load(&[0.5, 0.5, 0.0])
        .plugin(|plugin| {
            plugin["pools"][0]["filters"][1] = json!({"type": "health-filter",
                "consecutiveFailures": 3, "ejectionTime": "5s"});
        })
        .start()
        .await?;
    let ejected = |decided: &headroom_tests::Decided| {
        let excluded = decided.decision["excluded"].as_array();
        excluded.is_some_and(|list| list.iter().any(|excluded| excluded["filter"] == "health-filter"))
    };
    let decided = world.until_decision("it is ejected", Duration::from_secs(10), ejected).await?;
    ensure!(decided.decision["excluded"][0]["name"] == "broken", "{decided:?}");
    ensure!(decided.answer.status == 200, "{decided:?}");
    let broken = decided.decision["excluded"][0]["endpoint"].as_str().unwrap_or_default().to_owned();
    let counter = format!("headroom_endpoint_failures_total.pool=qwen.endpoint={}", broken.replace('.', "_"));
    ensure!(world.envoy.stats().await?.get(&counter) >= 3, "{counter}");
    let again = |decided: &headroom_tests::Decided| decided.candidate("broken").is_some();
    world.until_decision("it is tried again", Duration::from_secs(20), again).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_all_endpoints_refuse_the_answer_says_that_none_is_available() -> Outcome {
    let dead = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let address = dead.clone();
    let world = World::of(&["a"])
        .stand_in(0, dead)
        .companion(move |config, _| {
            config["pools"][0]["endpoints"][0]["metrics"] = format!("http://{address}/metrics").into();
        })
        .scheduling(json!({"filters": [{"type": "health-filter"}]}))
        .start()
        .await?;
    let refused = |decided: &headroom_tests::Decided| {
        decided.answer.json()["error"]["code"] == "headroom_none_available"
    };
    let decided = world.until_decision("nobody is available", Duration::from_secs(10), refused).await?;
    ensure!(decided.answer.status == 503, "{decided:?}");
    ensure!(decided.answer.header("x-llm-d-request-dropped-reason") == "rejected-no-endpoints");
    let counter = "headroom_requests_total.pool=qwen.outcome=none_available";
    ensure!(world.envoy.stats().await?.get(counter) > 0);
    Ok(())
}
