//! `fuel PROGRAM.wasm ARGS…`: runs a wasm32-wasip1 program and prints how much fuel it burnt.

/// The interpreter is not built into itself.
#[cfg(target_family = "wasm")]
fn main() {}

#[cfg(not(target_family = "wasm"))]
fn main() -> anyhow::Result<()> {
    use anyhow::Context as _;
    use std::io::Write as _;

    let args: Vec<String> = std::env::args().skip(1).collect();
    let program = args.first().context("usage: fuel PROGRAM.wasm ARGS…")?;
    let bytes = std::fs::read(program).with_context(|| format!("cannot read {program}"))?;
    writeln!(std::io::stdout(), "{}", headroom_bench::fuel::burnt(&bytes, &args)?)?;
    Ok(())
}
