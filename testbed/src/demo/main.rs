//! `headroom-demo`: the same load on the same pool under Headroom and under Envoy's own balancing.

mod output;
mod policy;
mod scenario;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use policy::Policy;
use scenario::{Run, Scenario};

/// Drives one load through a fake GPU pool under three policies and compares them.
#[derive(Debug, Parser)]
struct Args {
    /// Write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leave the last pool, companion and Envoy running, and print their addresses.
    #[arg(long)]
    keep: bool,
    /// Seed of the pool and of the load; the same for every policy.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this policy alone; may be given several times. Default: all three.
    #[arg(long = "policy", value_enum, value_name = "POLICY")]
    policies: Vec<Policy>,
    /// Where logs go, and the ids of the processes that are left running.
    #[arg(long, value_name = "FOLDER", default_value = ".demo")]
    folder: PathBuf,
}

impl Args {
    fn wants(&self, policy: Policy) -> bool {
        self.policies.is_empty() || self.policies.contains(&policy)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let demo = async {
        tokio::select! {
            done = run(&args) => done,
            signal = interrupted() => Err(anyhow::anyhow!("stopped by {}", signal?)),
        }
    };
    match demo.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::line(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Waits for a signal to end. Whatever runs then is dropped, and with it its processes.
async fn interrupted() -> anyhow::Result<&'static str> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
        _ = hangup.recv() => "SIGHUP",
    })
}

async fn run(args: &Args) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.folder)?;
    let folder = args.folder.canonicalize()?;
    let scenario = Scenario::new(args.seed);
    output::introduction(&scenario);
    let mut runs: Vec<Run> = Vec::new();
    let mut last = None;
    for policy in Policy::ORDER.into_iter().filter(|policy| args.wants(*policy)) {
        drop(last.take());
        output::line(&format!("running {} …", policy.title()));
        let processes = scenario.start(policy, &folder).await?;
        runs.push(scenario.measure(policy, &processes).await?);
        last = Some(processes);
    }
    output::comparison(&runs);
    let processes = last.context("nothing was run")?;
    output::decision(&processes.access_log()).await;
    if let Some(path) = &args.json {
        output::write_json(path, &runs)?;
    }
    if args.keep {
        // For `scripts/demo.sh --stop`.
        write_ids(&folder, &processes.ids())?;
        output::addresses(&processes);
        processes.leave_running()?;
    }
    Ok(())
}

fn write_ids(folder: &Path, ids: &[u32]) -> anyhow::Result<()> {
    let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
    std::fs::write(folder.join("pids"), text).context("process ids could not be written")
}
