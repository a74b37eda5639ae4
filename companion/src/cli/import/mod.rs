//! `headroom import`: llm-d's `EndpointPickerConfig` to the plugin's config.

mod convert;
mod origins;
mod parameters;
mod plugins;
mod profiles;
mod types;

use std::path::PathBuf;

use headroom_filter::config::Config;

pub(crate) use convert::{Converted, convert};
pub(crate) use origins::Origins;

use super::finding::{Finding, lines};
use super::plugin_configs::{self, Kind};
use super::{Answer, FAULTS, documents, read_text};

/// Arguments of `headroom import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An EndpointPickerConfig, YAML or JSON.
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
    let mut documents = match documents::read(text) {
        Ok(documents) => documents,
        Err(error) => return (None, vec![error]),
    };
    documents.retain(|tree| plugin_configs::classify(&tree.value) == Kind::EndpointPicker);
    let [tree] = documents.as_slice() else {
        let reason = format!("must contain one EndpointPickerConfig, and contains {}", documents.len());
        return (None, vec![Finding::error("", "", reason)]);
    };
    let Converted { value, origins, findings: converting } = convert(&tree.value, names);
    let mut findings: Vec<Finding> = documents::duplicates(tree, "").collect();
    findings.extend(converting);
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    if let Err(faults) = Config::parse(text.as_bytes()) {
        let faults = faults.into_iter().map(Finding::from);
        findings.extend(faults.map(|fault| Finding { path: origins.place(&fault.path), ..fault }));
    }
    let works = !findings.iter().any(Finding::is_error);
    (works.then_some(text), findings)
}

#[cfg(test)]
mod tests;
