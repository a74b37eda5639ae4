//! The companion's processor time and memory, and the worst age of a value, with many endpoints and exporters.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use headroom_testbed::{Companion, CompanionConfig};
use serde_json::{Value, json};

use crate::{fleet::Fleet, line, page, quantile, reader, usage};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many endpoints.
    #[arg(long, default_value_t = 1000)]
    endpoints: usize,
    /// How many GPU exporters; each lists eight GPUs, and the endpoints share them evenly.
    #[arg(long, default_value_t = 250)]
    exporters: usize,
    /// The time between two scrapes, in milliseconds.
    #[arg(long, default_value_t = 200)]
    interval: u64,
    /// How long to measure, in seconds.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
}

pub(crate) async fn run(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let fleet = Fleet::start().await?;
    let interval = format!("{}ms", args.interval);
    let config = CompanionConfig::with_pools(
        &json!([{"name": "fleet", "endpoints": endpoints(args, &fleet)}]),
        &interval,
    )?;
    let companion = Companion::start(config, folder).await?;
    let id = companion.process.id();

    // What starting costs is not what is measured.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (started, before, answered) = (Instant::now(), usage::processor_time(id)?, fleet.answered());
    let length = Duration::from_secs(args.seconds);
    let (mut engine, mut gpu, mut fewest) = (Vec::new(), Vec::new(), usize::MAX);
    reader::read(companion.feed(), "fleet", |ages| {
        let (age, count) = ages.oldest("WaitingQueueSize");
        engine.push(age);
        gpu.push(ages.oldest("GPUUtilization").0);
        fewest = fewest.min(count);
        started.elapsed() >= length
    })
    .await?;
    let elapsed = started.elapsed().as_secs_f64();
    let cores = usage::processor_time(id)?.saturating_sub(before).as_secs_f64() / elapsed;
    let (scrapes, bytes) = fleet.answered();
    #[expect(clippy::cast_precision_loss, reason = "counts of a measurement")]
    let per_second = |now: u64, then: u64| (now - then) as f64 / elapsed;
    let rate = per_second(scrapes, answered.0);
    #[expect(clippy::cast_precision_loss, reason = "a count of targets")]
    let wanted = (args.endpoints + args.exporters) as f64 * 1e3 / args.interval as f64;
    for ages in [&mut engine, &mut gpu] {
        ages.sort_by(f64::total_cmp);
    }
    line(&format!(
        "| endpoints | exporters | interval | scrapes/s | of those wanted | MB/s | cores | memory | oldest queue length: \
         p50 | p99 | longest | oldest GPU value: p99 |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n\
         | {fewest} | {} | {interval} | {rate:.0} | {:.0} % | {:.0} | {cores:.2} | {} MiB | {:.0} ms | {:.0} ms | {:.0} ms \
         | {:.0} ms |",
        args.exporters,
        rate / wanted * 100.0,
        per_second(bytes, answered.1) / 1e6,
        usage::peak_memory(id)?,
        quantile(&engine, 0.5),
        quantile(&engine, 0.99),
        quantile(&engine, 1.0),
        quantile(&gpu, 0.99),
    ));
    Ok(())
}

fn endpoints(args: &Args, fleet: &Fleet) -> Vec<Value> {
    let endpoint = |number: usize| {
        let mut endpoint = json!({"address": fleet.engine(number), "name": format!("e{number}")});
        if args.exporters > 0 {
            let (exporter, gpu) = (number % args.exporters, number / args.exporters % 8);
            let gpus = json!({
                "exporter": format!("http://{}/metrics", fleet.exporter(exporter)), "uuids": [page::uuid(exporter, gpu)],
            });
            if let Some(endpoint) = endpoint.as_object_mut() {
                endpoint.insert("gpus".to_owned(), gpus);
            }
        }
        endpoint
    };
    (0..args.endpoints).map(endpoint).collect()
}
