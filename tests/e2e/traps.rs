//! A VM that fails: another takes over, and the failed one comes back.

use std::time::Duration;

use anyhow::ensure;
use headroom_testbed::load::{self, Workload};
use headroom_testbed::{binaries, http, wait};
use headroom_tests::{Outcome, World};

const LEASES: &str = "headroom_lease_acquired_total.cluster=headroom-companion";
const HEADER: &str = "x-headroom-test-trap";

async fn world(workers: usize) -> anyhow::Result<World> {
    let module = binaries::trapping_module()?;
    World::of(&["a", "b"])
        .workers(workers)
        .envoy_config(move |config| config.set_module(&module))
        .start()
        .await
}

/// Waits until requests flow again: as many in a row as are sure to reach every worker.
async fn until_requests_flow(world: &World) -> Outcome {
    let all_succeed = || async {
        for _ in 0..40 {
            // A connection each, so that the workers take turns.
            let client = http::client();
            let request =
                client.post(world.url("/v1/chat/completions")).body(http::chat("x", 1, false).to_string());
            if world.send(request).await.ok()?.answer.status != 200 {
                return None;
            }
        }
        Some(())
    };
    wait::until("requests flow on every worker", Duration::from_secs(10), all_succeed).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_takes_over_from_a_lease_holder_that_traps() -> Outcome {
    let world = world(2).await?;
    let plan =
        Workload { rate: 40.0, length: Duration::from_secs(9), prompt_tokens: 20, output_tokens: 3, seed: 8 };
    let (client, url) = (world.client.clone(), world.envoy.url());
    let load = tokio::spawn(async move { load::run(&client, &url, plan.plan()).await });
    for round in 1..=3 {
        let before = world.envoy.stats().await?.get(LEASES);
        let request = world.client.get(world.url("/v1/models")).header(HEADER, "lease");
        // Lost with the VM if the holder is the worker that got it and traps before it is answered.
        let _either_way = world.send(request).await;
        let moved = move |stats: &headroom_testbed::stats::Stats| stats.get(LEASES) > before;
        world
            .envoy
            .until_stats("another root context holds the lease", Duration::from_secs(10), moved)
            .await?;
        until_requests_flow(&world).await?;
        world.until_fed().await?;
        let fresh =
            |d: &headroom_tests::Decided| d.decision["snapshotAgeMs"].as_u64().is_some_and(|age| age < 1_500);
        world
            .until_decision(&format!("round {round}: the feed is live"), Duration::from_secs(5), fresh)
            .await?;
    }
    // Where the holder was a worker, what it had under way and what came within its back-off is lost.
    let outcomes = load.await?;
    let failed = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    ensure!(failed * 10 <= outcomes.len(), "{failed} of {} requests failed over three traps", outcomes.len());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trap_in_one_worker_of_four_is_over_within_seconds() -> Outcome {
    let world = world(4).await?;
    for _ in 0..3 {
        let request = world.client.get(world.url("/v1/models")).header(HEADER, "self");
        // The request that makes the VM trap is lost with it.
        let _lost = world.send(request).await;
        until_requests_flow(&world).await?;
    }
    world.until_fed().await?;
    let reloads = world.envoy.ask("/stats?filter=vm_reload_success").await?;
    ensure!(!reloads.trim_end().ends_with(": 0"), "no VM was made anew: {reloads}");
    Ok(())
}
