//! A chosen endpoint that can't be reached: the next of the list serves.

use std::time::Duration;

use anyhow::ensure;
use headroom_tests::{Outcome, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_endpoint_of_the_list_serves_when_the_choice_refuses() -> Outcome {
    // Nobody listens there, but what is scraped for it looks best.
    let dead = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let world =
        World::of(&["a", "b", "decoy"]).gpu_load(&[0.5, 0.7, 0.0]).stand_in(2, dead.clone()).start().await?;
    let first = |d: &headroom_tests::Decided| d.decision["outcome"]["chosen"][0] == dead.as_str();
    let decided = world.until_decision("the dead endpoint looks best", Duration::from_secs(5), first).await?;
    ensure!(decided.answer.status == 200 && decided.answer.served_by == "a", "{decided:?}");
    ensure!(decided.decision["outcome"]["chosen"][1] == world.pool.address("a").as_str(), "{decided:?}");
    for _ in 0..10 {
        ensure!(world.chat().await?.answer.status == 200);
    }
    ensure!(world.envoy.stats().await?.get("headroom_served_elsewhere_total.pool=qwen") > 0);
    world.until_nothing_in_flight().await
}
