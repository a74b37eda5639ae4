//! The time from a changed number at a GPU exporter to the first decision that knows it.
//!
//! Two replicas, and a scorer that takes the one whose GPU is less busy. The GPU of the first is made busier and less busy
//! than the other's in turn at random times, while clients ask Envoy all the time; the change has arrived when a request
//! that was sent after it is placed by the new number. What is measured begins before the exporter is told and ends when
//! that request is answered, so it is too long rather than too short.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use headroom_testbed::{Companion, CompanionConfig, Envoy, EnvoyConfig, FakePool, Replica, http};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{line, quantile};

/// How long one change may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many changes.
    #[arg(long, default_value_t = 300)]
    changes: usize,
    /// The time between two scrapes, in milliseconds.
    #[arg(long, default_value_t = 200)]
    interval: u64,
    /// Envoy's workers.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Seed of the times of the changes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The last answered request: when it was sent, when it was answered, and where it went.
type Last = Option<(Instant, Instant, String)>;

pub(crate) async fn run(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let replica = |name, gpu_load| Replica { gpu_load, ..Replica::new(name) };
    let replicas = vec![replica("changing", 0.1), replica("steady", 0.5)];
    let engine = json!({"stepMs": 0.2, "prefillMsPerToken": 0.001});
    let pool = FakePool::start(replicas, engine, args.seed, folder).await?;
    let mut companion_config = CompanionConfig::for_pool(&pool)?;
    set(&mut companion_config.json, "/scrape/interval", json!(format!("{}ms", args.interval)))?;
    let mut config = EnvoyConfig::load("envoy.yaml", &folder.join("access.log"))?;
    config.set_endpoints("qwen", &pool.addresses())?;
    config.set_endpoints("headroom-companion", &[companion_config.feed().to_owned()])?;
    let mut edited = Ok(());
    config.edit_plugin(|plugin| edited = schedule_by_gpu(plugin))?;
    edited?;
    let _companion = Companion::start(companion_config, folder).await?;
    let envoy = Envoy::start(&config, args.workers, folder).await?;
    let fed = |stats: &headroom_testbed::stats::Stats| stats.get("headroom_pool_endpoints.pool=qwen") > 0;
    envoy.until_stats("the companion feeds Envoy", Duration::from_secs(10), fed).await?;

    let (changing, steady) = (pool.address("changing").to_owned(), pool.address("steady").to_owned());
    let (answered, mut last) = watch::channel::<Last>(None);
    let answered = Arc::new(answered);
    let clients: Vec<_> =
        (0..4).map(|_| tokio::spawn(ask_all_the_time(envoy.url(), Arc::clone(&answered)))).collect();
    let mut dice = fastrand::Rng::with_seed(args.seed);
    let mut took = Vec::new();
    for number in 0..args.changes {
        tokio::time::sleep(Duration::from_millis(dice.u64(50..50 + 2 * args.interval))).await;
        let is_busy = number % 2 == 0;
        let wanted = if is_busy { &steady } else { &changing };
        let started = Instant::now();
        pool.control("changing", json!({"gpuLoad": if is_busy { 0.9 } else { 0.1 }})).await?;
        let arrived = async {
            loop {
                last.changed().await.context("the clients have ended")?;
                if let Some((sent, answered, chosen)) = last.borrow().as_ref()
                    && *sent >= started
                    && chosen == wanted
                {
                    return anyhow::Ok(*answered);
                }
            }
        };
        let arrived = tokio::time::timeout(PATIENCE, arrived).await.context("a change did not arrive")??;
        took.push(arrived.duration_since(started).as_secs_f64() * 1e3);
    }
    clients.iter().for_each(tokio::task::JoinHandle::abort);
    took.sort_by(f64::total_cmp);
    line(&format!(
        "| interval | changes | p50 | p90 | p99 | longest |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n\
         | {} ms | {} | {:.0} | {:.0} | {:.0} | {:.0} |",
        args.interval,
        took.len(),
        quantile(&took, 0.5),
        quantile(&took, 0.9),
        quantile(&took, 0.99),
        quantile(&took, 1.0)
    ));
    Ok(())
}

fn set(config: &mut Value, pointer: &str, value: Value) -> anyhow::Result<()> {
    *config.pointer_mut(pointer).with_context(|| format!("the config has no {pointer}"))? = value;
    Ok(())
}

/// Takes the replica whose GPU is less busy, and says where each request went.
fn schedule_by_gpu(plugin: &mut Value) -> anyhow::Result<()> {
    let pool = plugin.pointer_mut("/pools/0").and_then(Value::as_object_mut).context("no pool")?;
    pool.retain(|field, _| !["filters", "scorers", "picker"].contains(&field.as_str()));
    pool.insert("explain".to_owned(), json!({"responseHeader": "x-headroom-decision"}));
    pool.insert("explorationProbability".to_owned(), json!(0));
    let lower_is_better = json!({"type": "linear_lower_is_better"});
    let parameters = json!({"attributeKey": "GPUUtilization", "algorithm": lower_is_better});
    pool.insert(
        "scorers".to_owned(),
        json!([{"type": "endpoint-attribute-scorer", "parameters": parameters}]),
    );
    Ok(())
}

async fn ask_all_the_time(envoy: String, answered: Arc<watch::Sender<Last>>) {
    let client = http::client();
    let body = json!({"model": "qwen", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]})
        .to_string();
    loop {
        let sent = Instant::now();
        let request = client
            .post(format!("{envoy}/v1/chat/completions"))
            .header("content-type", "application/json")
            .body(body.clone());
        let Ok(answer) = http::send(request).await else { continue };
        let decision: Value = serde_json::from_str(answer.header("x-headroom-decision")).unwrap_or_default();
        if let Some(chosen) = decision.pointer("/outcome/chosen/0").and_then(Value::as_str) {
            answered.send_replace(Some((sent, Instant::now(), chosen.to_owned())));
        }
    }
}
