//! Writes the Rust form of `crates/wire/proto` to `crates/wire/src/generated`, or, with `--check`,
//! fails when what stands there is not what the `.proto` files say.

use std::{fs, path::Path};

use anyhow::{Context, bail};

fn main() -> anyhow::Result<()> {
    let wire = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = wire.join("src/generated");
    let check = std::env::args().any(|arg| arg == "--check");
    let scratch = if check {
        std::env::temp_dir().join(format!("headroom-codegen-{}", std::process::id()))
    } else {
        out.clone()
    };
    fs::create_dir_all(&scratch)?;
    generate(&wire.join("proto"), &scratch)?;
    if check {
        let name = "headroom.v1.rs";
        let fresh = fs::read_to_string(scratch.join(name))?;
        let committed = fs::read_to_string(out.join(name)).context("no generated code is committed")?;
        fs::remove_dir_all(&scratch)?;
        if fresh != committed {
            bail!("crates/wire/src/generated is stale: run `cargo run -p headroom-wire-codegen`");
        }
    }
    Ok(())
}

fn generate(proto: &Path, out: &Path) -> anyhow::Result<()> {
    let files = protox::compile(["headroom/v1/feed.proto"], [proto])?;
    tonic_prost_build::configure()
        .build_client(true)
        .build_server(true)
        .client_mod_attribute("headroom.v1", "#[cfg(feature = \"service\")]")
        .server_mod_attribute("headroom.v1", "#[cfg(feature = \"service\")]")
        .out_dir(out)
        .compile_fds(files)?;
    Ok(())
}
