//! The binary `headroom`.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    headroom_companion::run().await
}
