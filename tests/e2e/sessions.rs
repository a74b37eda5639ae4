//! A conversation stays where its cache is, whichever worker takes a request.

use anyhow::ensure;
use headroom_testbed::http;
use headroom_tests::{Decided, Outcome, World};
use serde_json::{Value, json};

/// A random choice, so that only affinity can keep a session where it is.
fn with_affinity(parameters: &Value) -> Value {
    json!({
        "filters": [{"type": "session-affinity-filter", "parameters": parameters}],
        "scorers": [{"type": "queue-scorer"}],
        "picker": {"type": "random-picker"},
    })
}

/// One request on a connection of its own: any worker may take it.
async fn ask(world: &World, header: Option<(&str, &str)>) -> anyhow::Result<Decided> {
    let request = http::client().post(world.url("/v1/chat/completions"));
    let request = header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    world.send(request.body(http::chat("hello", 2, false).to_string())).await
}

/// How many different replicas serve twenty requests.
async fn replicas(world: &World, header: Option<(&str, &str)>) -> anyhow::Result<usize> {
    let mut served = std::collections::BTreeSet::new();
    for _ in 0..20 {
        served.insert(ask(world, header).await?.answer.served_by);
    }
    Ok(served.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_token_leads_back_and_nobody_can_forge_one() -> Outcome {
    let affinity = with_affinity(&json!({"strategy": "encoded_endpoint_header"}));
    let world = World::of(&["a", "b", "c"]).scheduling(affinity).start().await?;
    let first = ask(&world, None).await?.answer;
    let token = first.header("x-session-token");
    ensure!(!token.is_empty() && !token.contains("127.0.0.1"), "{first:?}");
    for _ in 0..20 {
        let again = ask(&world, Some(("x-session-token", token))).await?.answer;
        ensure!(again.served_by == first.served_by, "{again:?}");
    }
    ensure!(replicas(&world, None).await? > 1, "requests without a token are free");
    let forged = token.chars().rev().collect::<String>();
    ensure!(replicas(&world, Some(("x-session-token", &forged))).await? > 1, "a forged token counts");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_id_is_pinned_for_all_workers() -> Outcome {
    let affinity = with_affinity(&json!({"strategy": "session_id"}));
    let world = World::of(&["a", "b", "c"]).scheduling(affinity).start().await?;
    for id in ["one", "two", "three"] {
        let first = ask(&world, Some(("x-session-id", id))).await?.answer;
        for _ in 0..10 {
            let again = ask(&world, Some(("x-session-id", id))).await?;
            ensure!(again.answer.served_by == first.served_by, "{id}: {again:?}");
        }
    }
    ensure!(replicas(&world, None).await? > 1, "requests without an id are free");
    Ok(())
}
