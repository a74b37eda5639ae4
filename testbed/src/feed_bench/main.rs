//! `headroom-feed-bench`: how quickly a change reaches a worker of Envoy, and what a large fleet costs the companion.

mod fleet;
mod latency;
mod page;
mod reader;
mod scale;
mod usage;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Args {
    /// Where logs go.
    #[arg(long, value_name = "FOLDER", default_value = ".demo/feed-bench")]
    folder: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The time from a changed number at a GPU exporter to the first decision that knows it.
    Latency(latency::Args),
    /// The companion's processor time and memory, and the worst age of a value, with many endpoints and exporters.
    Scale(scale::Args),
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let measured = async {
        let _not_there = std::fs::remove_dir_all(&args.folder);
        std::fs::create_dir_all(&args.folder)?;
        let folder = args.folder.canonicalize()?;
        match args.what {
            What::Latency(args) => latency::run(&args, &folder).await,
            What::Scale(args) => scale::run(&args, &folder).await,
        }
    };
    match measured.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            line(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "what the program is for")]
fn line(text: &str) {
    println!("{text}");
}

/// The value below which `share` of the sorted values lie.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a list of measurements"
    )]
    let index = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(index.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
