//! Where the programs under test are.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// The repository's root.
pub fn repository() -> PathBuf {
    let testbed = Path::new(env!("CARGO_MANIFEST_DIR"));
    testbed.parent().unwrap_or(testbed).to_path_buf()
}

/// The `headroom` binary: `HEADROOM_BIN`.
///
/// # Errors
/// When it is not there.
pub fn headroom() -> anyhow::Result<PathBuf> {
    find("HEADROOM_BIN", "target/release/headroom", "cargo build --release --bin headroom")
}

/// The module: `HEADROOM_WASM`.
///
/// # Errors
/// When it is not there.
pub fn module() -> anyhow::Result<PathBuf> {
    find("HEADROOM_WASM", "target/wasm32-wasip1/release/headroom.wasm", "scripts/build.sh")
}

/// The module that traps on demand: `HEADROOM_TRAP_WASM`.
///
/// # Errors
/// When it is not there.
pub fn trapping_module() -> anyhow::Result<PathBuf> {
    find("HEADROOM_TRAP_WASM", "target/trap/wasm32-wasip1/release/headroom.wasm", "scripts/build.sh --test")
}

/// Envoy: `HEADROOM_ENVOY`, else the `envoy` on the path.
///
/// # Errors
/// When there is neither.
pub fn envoy() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("HEADROOM_ENVOY") {
        return existing(PathBuf::from(path), "HEADROOM_ENVOY names it");
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("envoy"))
        .find(|candidate| candidate.is_file())
        .context("no envoy on the PATH: run scripts/install.sh and set HEADROOM_ENVOY to what it prints")
}

fn find(variable: &str, default: &str, command: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os(variable).map_or_else(|| repository().join(default), PathBuf::from);
    existing(path, &format!("run {command}, or set {variable}"))
}

fn existing(path: PathBuf, hint: &str) -> anyhow::Result<PathBuf> {
    if path.is_file() { Ok(path) } else { bail!("{} is not there: {hint}", path.display()) }
}
