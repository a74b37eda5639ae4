//! `headroom check`: whether configs are right, with everything that is wrong.

mod spelling;

use std::path::PathBuf;

use headroom_filter::config::Config;

use super::finding::{Finding, lines};
use super::plugin_configs::{self, Kind, Located};
use super::{Answer, FAULTS, OK, UNREADABLE, documents, read_text};
use crate::config;

/// Arguments of `headroom check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files with the plugin's config, llm-d's EndpointPickerConfig, the companion's config, or a config of
    /// Envoy or Istio (WasmPlugin, EnvoyFilter) that contains the plugin's. YAML or JSON.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Checks each file.
pub(crate) fn run(args: &Args) -> Answer {
    let mut answer = Answer::default();
    for file in &args.files {
        let text = match read_text(file) {
            Ok(text) => text,
            Err(unreadable) => {
                answer.stderr.push_str(&unreadable.stderr);
                answer.code = UNREADABLE;
                continue;
            }
        };
        let report = inspect(&text);
        answer.stdout.push_str(&lines(file, &report.findings));
        let errors = report.findings.iter().filter(|finding| finding.is_error()).count();
        if errors == 0 {
            let kinds =
                if report.kinds.is_empty() { "no config".to_owned() } else { report.kinds.join(", ") };
            let verdict = format!("{}: ok ({kinds})\n", file.display());
            answer.stdout.push_str(&verdict);
        }
        answer.code = answer.code.max(if errors == 0 { OK } else { FAULTS });
    }
    answer
}

/// What was found in a file.
#[derive(Debug, Default)]
struct Report {
    kinds: Vec<&'static str>,
    findings: Vec<Finding>,
}

fn inspect(text: &str) -> Report {
    let mut report = Report::default();
    let documents = match documents::read(text) {
        Ok(documents) => documents,
        Err(error) => {
            report.findings.push(error);
            return report;
        }
    };
    let several = documents.len() > 1;
    for (index, tree) in documents.iter().enumerate() {
        let at = if several { format!("document {}", index + 1) } else { String::new() };
        let prefix = if several { format!("{at}: ") } else { String::new() };
        report.findings.extend(documents::duplicates(tree, &prefix));
        if plugin_configs::classify(&tree.value) == Kind::Companion {
            report.kinds.push("companion config");
            report.findings.extend(companion(&tree.value.to_string(), &prefix));
        }
        let located = plugin_configs::find(&tree.value, &at, &mut report.findings);
        for located in located {
            report.kinds.push(located.what);
            report.findings.extend(compile(&located).err().into_iter().flatten());
            report.findings.extend(spelling::check(&located));
        }
    }
    if report.kinds.is_empty() && report.findings.is_empty() {
        let reason = "contains no config that is known here: neither the plugin's (\"feed\" and \"pools\") nor the \
                      companion's, no EndpointPickerConfig, no Wasm plugin named headroom";
        report.findings.push(if text.contains("config_discovery") {
            let reason = "takes the filter's config from a discovery service; check what that serves";
            Finding::warning("", "", reason)
        } else {
            Finding::error("", "", reason)
        });
    }
    report
}

/// Compiles a plugin config as the filter does.
///
/// # Errors
/// Everything that is wrong with it.
pub(crate) fn compile(located: &Located) -> Result<Config, Vec<Finding>> {
    Config::parse(located.value.to_string().as_bytes()).map_err(|faults| {
        let faults = faults.into_iter().map(Finding::from);
        faults.map(|fault| Finding { path: located.place(&fault.path), ..fault }).collect()
    })
}

fn companion(text: &str, prefix: &str) -> Vec<Finding> {
    match config::parse(text) {
        Ok(config) => config
            .warnings
            .iter()
            .map(|words| Finding::warning(prefix.trim_end_matches(": "), "", words))
            .collect(),
        Err(errors) => {
            let faults = errors.iter();
            faults
                .map(|fault| Finding::error(format!("{prefix}{}", fault.path), &fault.value, &fault.reason))
                .collect()
        }
    }
}
