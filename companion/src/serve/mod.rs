//! `headroom serve`: scrapes, and feeds every subscribed Envoy.

mod running;

use std::path::PathBuf;

use anyhow::anyhow;

pub(crate) use running::Running;

use crate::config;

/// Arguments of `headroom serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The config file, YAML or JSON.
    #[arg(long, value_name = "FILE", env = "HEADROOM_CONFIG")]
    config: PathBuf,
}

/// Serves until the process is told to stop.
///
/// # Errors
/// When the config is not valid, an address cannot be listened on, or a part of the process ends.
pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let config = config::load(&args.config)
        .map_err(|errors| anyhow!("{} cannot be served:\n{errors}", args.config.display()))?;
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let pools = config.pools.len();
    let mut running = Running::start(config).await?;
    tracing::info!(feed = %running.feed, admin = %running.admin, pools, "serving");
    tokio::select! {
        ended = running.ended() => ended,
        signal = crate::signals::told_to_stop() => {
            tracing::info!("stopping on {}", signal?);
            running.stop().await;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
