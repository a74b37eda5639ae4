//! Streams pass through as they are produced.

use anyhow::{Context, ensure};
use headroom_testbed::http;
use headroom_tests::{Outcome, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_chunk_arrives_before_the_last_is_produced() -> Outcome {
    let world = World::of(&["a", "b"]).start().await?;
    let request = world.client.post(world.url("/v1/chat/completions"));
    let mut response = request.body(http::chat("hello", 400, true).to_string()).send().await?;
    let served_by = response.headers().get("x-served-by").context("nobody served")?.to_str()?.to_owned();
    let first = response.chunk().await?.context("no chunk")?;
    ensure!(first.starts_with(b"data: "), "{first:?}");
    let state = world.pool.state().await?;
    let running = state.to_string();
    ensure!(
        find(&state, &served_by).is_some_and(|replica| replica["running"] == 1),
        "still generating: {running}"
    );
    let mut rest = first.to_vec();
    while let Some(chunk) = response.chunk().await? {
        rest.extend_from_slice(&chunk);
    }
    ensure!(rest.ends_with(b"data: [DONE]\n\n"));
    Ok(())
}

/// The state of one replica, wherever the control interface puts it.
fn find<'a>(state: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    match state {
        serde_json::Value::Object(map) => {
            map.get(name).or_else(|| map.values().find_map(|value| find(value, name)))
        }
        serde_json::Value::Array(list) => list
            .iter()
            .find(|value| value["name"] == name)
            .or_else(|| list.iter().find_map(|value| find(value, name))),
        _ => None,
    }
}
