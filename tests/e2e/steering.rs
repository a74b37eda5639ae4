//! A client can't choose where its request goes.

use std::time::Duration;

use anyhow::ensure;
use headroom_tests::{Outcome, Recorder, World};

const DESTINATION: &str = "x-gateway-destination-endpoint";

fn spoofed(world: &World, path: &str, address: &str) -> reqwest::RequestBuilder {
    let body = headroom_testbed::http::chat("x", 1, false).to_string();
    let request = world.client.post(world.url(path)).header("content-type", "application/json").body(body);
    request
        .header(DESTINATION, address)
        .header("x-gateway-destination-endpoint-subset", address)
        .header("x-prefiller-host-port", "169.254.169.254:80")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_sent_destination_changes_nothing() -> Outcome {
    let world = World::of(&["a", "b"]).gpu_load(&[0.99, 0.1]).start().await?;
    world.until_decision("b is preferred", Duration::from_secs(5), |d| d.answer.served_by == "b").await?;
    for _ in 0..10 {
        let request = spoofed(&world, "/v1/chat/completions", &world.pool.address("a"));
        ensure!(world.send(request).await?.answer.served_by == "b");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_changes_nothing_either_while_nothing_is_known_of_the_pool() -> Outcome {
    let world = World::of(&["a", "b"]).without_companion().start().await?;
    let mut others = 0;
    for _ in 0..40 {
        let request = spoofed(&world, "/v1/chat/completions", &world.pool.address("a"));
        others += i32::from(world.send(request).await?.answer.served_by == "b");
    }
    ensure!(others >= 10, "only {others} of 40 requests went elsewhere than the client said");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_server_sees_none_of_these_headers() -> Outcome {
    let recorder = Recorder::start().await?;
    let world = World::of(&["a"]).stand_in(0, recorder.address.clone()).start().await?;
    let decided = world.send(spoofed(&world, "/v1/chat/completions", "10.9.9.9:22")).await?;
    ensure!(decided.decision["outcome"]["chosen"][0] == recorder.address, "{decided:?}");
    let seen = decided.answer.json()["headers"].to_string();
    ensure!(
        seen.contains("content-type") && !seen.contains("x-gateway") && !seen.contains("x-prefiller"),
        "{seen}"
    );
    Ok(())
}
