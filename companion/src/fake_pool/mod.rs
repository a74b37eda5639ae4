//! `headroom fake-pool`: stands in for a GPU fleet on one machine.
//!
//! `engine` is the model, without I/O and clock; `endpoint` drives it in real time; `api`, `metrics`
//! and `exporter` are what the outside sees of it, `control` what it can change.

mod api;
pub(crate) mod config;
mod control;
mod endpoint;
mod engine;
mod exporter;
mod fnv;
mod metrics;
mod pool;
mod tokens;

use std::path::PathBuf;

use anyhow::Context;

use pool::Running;

/// Arguments of `headroom fake-pool`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The pool's config file, YAML or JSON.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Write where everything listens to this file, as JSON, once it does. A file that is there
    /// already is removed first.
    #[arg(long, value_name = "FILE")]
    addresses_file: Option<PathBuf>,
}

/// Serves until the process is told to stop.
///
/// # Errors
/// When the config is not valid, an address cannot be listened on, or a part of the process ends.
pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let config = config::load(&args.config)
        .with_context(|| format!("{} is not a pool that can be started", args.config.display()))?;
    if let Some(file) = &args.addresses_file {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", file.display()));
            }
            Ok(()) | Err(_) => {}
        }
    }
    let mut running = Running::start(config).await?;
    for (name, address) in &running.addresses.endpoints {
        tracing::info!("{name} listens on {address}");
    }
    tracing::info!("exporter and control listen on {}", running.addresses.exporter);
    if let Some(file) = &args.addresses_file {
        running.addresses.write(file)?;
    }
    tokio::select! {
        ended = running.ended() => ended,
        signal = crate::signals::told_to_stop() => {
            tracing::info!("stopping on {}", signal?);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
