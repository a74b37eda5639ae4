//! Writes the generated pages of `docs/`, or, with `--check`, fails when what stands there is not
//! what the types and tables say.

use std::{fs, path::Path};

use anyhow::bail;

mod attributes;
mod configuration;
mod explain;
mod markdown;
mod metrics;
mod plugin_schema;
mod sources;

fn main() -> anyhow::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let check = std::env::args().any(|arg| arg == "--check");
    let mut stale = Vec::new();
    for (name, text) in [
        ("attributes.md", attributes::page()),
        ("companion-configuration.md", configuration::files()),
        ("configuration.md", configuration::page()),
        ("explain.md", explain::page()),
        ("metrics.md", metrics::page()),
        ("sources.md", sources::page()),
        ("plugin-config.schema.json", plugin_schema::text()?),
    ] {
        let path = docs.join(name);
        if !check {
            fs::write(&path, text)?;
        } else if fs::read_to_string(&path).unwrap_or_default() != text {
            stale.push(name);
        }
    }
    if !stale.is_empty() {
        bail!("docs/ is stale ({}): run `cargo run -p headroom-reference`", stale.join(", "));
    }
    Ok(())
}
