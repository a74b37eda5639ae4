//! Losing the companion never loses traffic.

use std::{path::PathBuf, time::Duration};

use anyhow::ensure;
use headroom_testbed::load::{self, Outcome as Sent, Workload};
use headroom_tests::{Outcome, World};
use tokio::task::JoinHandle;

use crate::on_both_envoys;

on_both_envoys!(
    a_killed_companion_costs_no_request,
    a_stalled_companion_costs_no_request,
    envoy_may_start_first
);

const ENDED: &str = "headroom_feed_ended_total.cluster=headroom-companion";
const CONNECTED: &str = "headroom_feed_connected.cluster=headroom-companion";

/// A light load for as long as the test may take; it ends with the last of its requests.
fn load(world: &World, length: Duration) -> JoinHandle<Vec<Sent>> {
    let plan = Workload { rate: 20.0, length, prompt_tokens: 50, output_tokens: 5, seed: 4 }.plan();
    let (client, url) = (world.client.clone(), world.envoy.url());
    tokio::spawn(async move { load::run(&client, &url, plan).await })
}

async fn none_failed(load: JoinHandle<Vec<Sent>>) -> Outcome {
    let outcomes = load.await?;
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.error.as_ref()).collect();
    ensure!(failed.is_empty(), "{} of {} failed: {:?}", failed.len(), outcomes.len(), failed.first());
    Ok(())
}

async fn a_killed_companion_costs_no_request(envoy: Option<PathBuf>) -> Outcome {
    let mut world = World::of(&["a", "b", "c"]).envoy(envoy).start().await?;
    let load = load(&world, Duration::from_secs(16));
    world.companion()?.process.kill();
    world
        .envoy
        .until_stats("the loss is noticed", Duration::from_secs(5), |stats| stats.get(CONNECTED) == 0)
        .await?;
    // The scenario itself: ten seconds without a companion.
    tokio::time::sleep(Duration::from_secs(10)).await;
    world.companion()?.restart().await?;
    world
        .envoy
        .until_stats("the feed is back", Duration::from_secs(4), |stats| stats.get(CONNECTED) == 1)
        .await?;
    none_failed(load).await
}

async fn a_stalled_companion_costs_no_request(envoy: Option<PathBuf>) -> Outcome {
    let mut world = World::of(&["a", "b", "c"]).envoy(envoy).start().await?;
    let load = load(&world, Duration::from_secs(12));
    world.companion()?.process.pause()?;
    let gone = |stats: &headroom_testbed::stats::Stats| stats.get(CONNECTED) == 0 && stats.sum(ENDED) > 0;
    world.envoy.until_stats("the silence is noticed", Duration::from_secs(8), gone).await?;
    world.companion()?.process.resume()?;
    world
        .envoy
        .until_stats("the feed is back", Duration::from_secs(8), |stats| stats.get(CONNECTED) == 1)
        .await?;
    none_failed(load).await
}

async fn envoy_may_start_first(envoy: Option<PathBuf>) -> Outcome {
    let mut world = World::of(&["a", "b"]).envoy(envoy).without_companion().start().await?;
    let load = load(&world, Duration::from_secs(5));
    ensure!(world.chat().await?.decision.is_null(), "nothing is known yet");
    world.start_companion().await?;
    world.until_decision("requests are scheduled", Duration::from_secs(5), |d| !d.decision.is_null()).await?;
    none_failed(load).await
}
