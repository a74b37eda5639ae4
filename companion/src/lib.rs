//! Headroom's native side: the companion that feeds Envoy, and the command-line tools.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod admin;
mod cli;
mod clock;
mod config;
mod discovery;
mod extract;
mod fake_pool;
mod join;
mod publish;
mod scrape;
mod serve;
mod signals;
mod telemetry;
#[cfg(test)]
mod testing;
mod tls;

/// Headroom's native side: feeds live GPU and engine state to the picker inside Envoy.
#[derive(Debug, Parser)]
#[command(name = "headroom", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Scrape engines and GPU exporters, and push their state to every subscribed Envoy.
    Serve(serve::Args),
    /// Stand in for a GPU fleet: model servers with a queueing model, and a GPU exporter.
    FakePool(fake_pool::Args),
    /// Check configs: the plugin's, llm-d's, the companion's, or one of Envoy or Istio that contains the plugin's.
    Check(cli::check::Args),
    /// Turn llm-d's EndpointPickerConfig into the plugin's config.
    Import(cli::import::Args),
    /// Say what the companion derives from a scrape, what it ignores, and why.
    Extract(cli::extract::Args),
    /// Say which endpoint a request would go to, and why.
    Explain(cli::explain::Args),
}

/// Does what the command line says and tells how it went.
pub async fn run() -> ExitCode {
    telemetry::init();
    let outcome = match Cli::parse().command {
        Command::Serve(args) => serve::run(args).await,
        Command::FakePool(args) => fake_pool::run(args).await,
        Command::Check(args) => return cli::emit(&cli::check::run(&args)),
        Command::Import(args) => return cli::emit(&cli::import::run(&args)),
        Command::Extract(args) => return cli::emit(&cli::extract::run(args).await),
        Command::Explain(args) => return cli::emit(&cli::explain::run(&args)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(feature = "schema")]
pub use extract::describe::ReferenceRow;

/// Every engine that can be read, with the other names that configs and labels may use for it.
#[cfg(feature = "schema")]
pub fn engines() -> Vec<(&'static str, &'static [&'static str])> {
    extract::describe::engines()
}

/// Every way from an engine's metric to an attribute, in the order in which they are tried.
#[cfg(feature = "schema")]
pub fn engine_rows() -> Vec<ReferenceRow> {
    extract::describe::engine_rows()
}

/// Every way from a GPU exporter's metric to an attribute, in the order in which they are tried.
#[cfg(feature = "schema")]
pub fn exporter_rows() -> Vec<ReferenceRow> {
    join::exporter_rows()
}

/// JSON Schema of the config of `headroom serve`.
#[cfg(feature = "schema")]
pub fn serve_config_schema() -> serde_json::Value {
    config::schema()
}

/// JSON Schema of the config of `headroom fake-pool`.
#[cfg(feature = "schema")]
pub fn fake_pool_config_schema() -> serde_json::Value {
    fake_pool::config::schema()
}

/// JSON Schema of what `headroom explain` takes as `--snapshot`.
#[cfg(feature = "schema")]
pub fn explain_snapshot_schema() -> serde_json::Value {
    cli::explain::snapshot_schema()
}

/// JSON Schema of what `headroom explain` takes as `--request`.
#[cfg(feature = "schema")]
pub fn explain_request_schema() -> serde_json::Value {
    cli::explain::request_schema()
}
