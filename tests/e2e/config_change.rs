//! The plugin's config changes under load, through a watched file.

use std::{path::PathBuf, time::Duration};

use anyhow::ensure;
use headroom_testbed::envoy_config::{discovered_filter, replace_file};
use headroom_testbed::load::{self, Workload};
use headroom_testbed::stats::Stats;
use headroom_testbed::{binaries, http};
use headroom_tests::{Outcome, World, show_decisions};
use serde_json::{Value, json};

use crate::on_both_envoys;

on_both_envoys!(ten_changes_under_load_of_which_two_are_broken);

const UPDATES: &str = "extension_config_discovery.http_filter.headroom";
const LEASES: &str = "headroom_lease_acquired_total.cluster=headroom-companion";

fn filter(edit: impl FnOnce(&mut Value)) -> anyhow::Result<Value> {
    discovered_filter(&binaries::module()?, |plugin| {
        show_decisions(plugin);
        edit(plugin);
    })
}

async fn ten_changes_under_load_of_which_two_are_broken(envoy: Option<PathBuf>) -> Outcome {
    let watched = tempfile::tempdir()?;
    let path = watched.path().join("ecds.json");
    replace_file(&path, &filter(|_| {})?)?;
    let watch = path.clone();
    let world = World::of(&["a", "b", "c"])
        .envoy(envoy)
        .template("envoy-ecds.yaml")
        .envoy_config(move |config| config.watch_filter(&watch))
        .start()
        .await?;
    let plan = Workload {
        rate: 20.0,
        length: Duration::from_secs(20),
        prompt_tokens: 50,
        output_tokens: 10,
        seed: 6,
    };
    let (client, url) = (world.client.clone(), world.envoy.url());
    let load = tokio::spawn(async move { load::run(&client, &url, plan.plan()).await });
    // A stream that begins before all changes and outlasts them.
    let held =
        world.client.post(world.url("/v1/chat/completions")).body(http::chat("x", 20_000, true).to_string());
    let held = held.send().await?;

    for round in 1..=10_i64 {
        let broken = round % 5 == 0;
        let before = world.envoy.stats().await?;
        replace_file(
            &path,
            &filter(|plugin| {
                plugin["pools"][0]["filters"][1]["maxPercent"] =
                    if broken { json!(9_000 + round) } else { json!(80 + round) };
            })?,
        )?;
        let outcome = format!("{UPDATES}.{}", if broken { "update_rejected" } else { "config_reload" });
        let taken = |stats: &Stats| stats.get(&outcome) > before.get(&outcome);
        world.envoy.until_stats(&format!("change {round} is judged"), Duration::from_secs(10), taken).await?;
        if broken {
            let log = world.envoy.process.log();
            let named =
                format!("pools[0].filters[1].maxPercent: {}: must be between 0 and 100", 9_000 + round);
            ensure!(
                log.contains(&named),
                "the log does not say {named:?}\n{}",
                world.envoy.process.log_tail()
            );
            ensure!(!world.chat().await?.decision.is_null(), "the good config stays in force");
        } else {
            let moved = |stats: &Stats| stats.get(LEASES) > before.get(LEASES);
            world
                .envoy
                .until_stats("the lease has moved to a new root", Duration::from_secs(10), moved)
                .await?;
            world.until_fed().await?;
        }
    }
    let outcomes = load.await?;
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.error.as_ref()).collect();
    ensure!(failed.is_empty(), "{} of {} failed: {:?}", failed.len(), outcomes.len(), failed.first());
    let counted = |stats: &Stats| stats.sum("headroom_inflight_requests") == 1;
    world.envoy.until_stats("the stream is still counted", Duration::from_secs(5), counted).await?;
    drop(held);
    world.until_nothing_in_flight().await
}
