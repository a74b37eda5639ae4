//! `headroom import`: llm-d's `EndpointPickerConfig`, or a pool in the short form, to the plugin's config.

mod convert;
mod origins;
mod parameters;
mod plugins;
mod profiles;
mod types;

use std::path::PathBuf;

pub(crate) use convert::convert;
pub(crate) use origins::Origins;

use super::finding::{Finding, lines};
use super::plugin_configs::{self, Kind};
use super::{Answer, FAULTS, check, documents, parts, read_text};

/// Arguments of `headroom import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An EndpointPickerConfig, or the plugin's config or one pool of it in the short form; YAML, JSON, or a
    /// ConfigMap with it.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    names: Names,
}

/// What the plugin's config names and llm-d's does not.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Names {
    /// The pool, as the companion's config calls it. Its Envoy cluster has the same name.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) pool: String,
    /// The Envoy cluster of the companion.
    #[arg(long, value_name = "NAME", default_value = "headroom-companion")]
    pub(crate) feed_cluster: String,
}

impl Default for Names {
    fn default() -> Self {
        Self { pool: "default".to_owned(), feed_cluster: "headroom-companion".to_owned() }
    }
}

/// Converts the file. What does not compile is not printed.
pub(crate) fn run(args: &Args) -> Answer {
    let text = match read_text(&args.file) {
        Ok(text) => text,
        Err(unreadable) => return unreadable,
    };
    let (config, findings) = import(&text, &args.names);
    let stderr = lines(&args.file, &findings);
    match config {
        Some(config) => Answer { stdout: config + "\n", stderr, code: 0 },
        None => Answer { stdout: String::new(), stderr, code: FAULTS },
    }
}

fn import(text: &str, names: &Names) -> (Option<String>, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut parts = match parts::read(text, &mut findings) {
        Ok(parts) => parts,
        Err(error) => return (None, vec![error]),
    };
    parts.retain(|part| {
        matches!(
            plugin_configs::classify(&part.tree.value),
            Kind::EndpointPicker | Kind::ShortForm | Kind::Plugin
        )
    });
    let [part] = parts.as_slice() else {
        let reason = format!(
            "must contain one EndpointPickerConfig, or one config of the plugin, whole or in the short form, and \
             contains {}",
            parts.len()
        );
        findings.push(Finding::error("", "", reason));
        return (None, findings);
    };
    findings.extend(documents::duplicates(&part.tree, &part.prefix()));
    let mut text = None;
    for located in plugin_configs::find(part, names, &mut findings) {
        findings.extend(check::compile(&located).err().into_iter().flatten());
        text = serde_json::to_string_pretty(&located.value).ok();
    }
    let works = !findings.iter().any(Finding::is_error);
    (text.filter(|_| works), findings)
}

#[cfg(test)]
mod tests;
