//! `headroom check`: whether configs are right, with everything that is wrong.

mod agreement;
mod attributes;

use std::path::PathBuf;

use headroom_filter::config::Config;

use super::finding::{Finding, lines};
use super::import::Names;
use super::parts::{self, Part};
use super::plugin_configs::{self, Kind, Located};
use super::{Answer, FAULTS, OK, UNREADABLE, documents, read_text};
use crate::config;

/// Arguments of `headroom check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files with the plugin's config, llm-d's EndpointPickerConfig, the companion's config, or a config of
    /// Envoy or Istio (WasmPlugin, EnvoyFilter) that contains the plugin's; YAML, JSON, or ConfigMaps with
    /// them. Several files are also checked against each other.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Checks each file, and whether they agree with each other.
pub(crate) fn run(args: &Args) -> Answer {
    let mut answer = Answer::default();
    let mut reports = Vec::new();
    for file in &args.files {
        match read_text(file) {
            Ok(text) => reports.push((file, inspect(&text))),
            Err(unreadable) => {
                answer.stderr.push_str(&unreadable.stderr);
                answer.code = UNREADABLE;
            }
        }
    }
    agreement::check(&mut reports);
    for (file, report) in &reports {
        answer.stdout.push_str(&lines(file, &report.findings));
        let errors = report.findings.iter().filter(|finding| finding.is_error()).count();
        if errors == 0 {
            let kinds = report.kinds();
            let kinds = if kinds.is_empty() { "no config".to_owned() } else { kinds.join(", ") };
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
    /// Where each config of a companion stands, with the config if it is right.
    companions: Vec<(String, Option<config::Config>)>,
    /// The plugin's configs.
    plugins: Vec<Located>,
    findings: Vec<Finding>,
}

impl Report {
    /// What the file holds.
    fn kinds(&self) -> Vec<&'static str> {
        let plugins = self.plugins.iter().map(|located| located.what);
        self.companions.iter().map(|_| "companion config").chain(plugins).collect()
    }
}

fn inspect(text: &str) -> Report {
    let mut report = Report::default();
    let parts = match parts::read(text, &mut report.findings) {
        Ok(parts) => parts,
        Err(error) => {
            report.findings.push(error);
            return report;
        }
    };
    for part in parts {
        report.findings.extend(documents::duplicates(&part.tree, &part.prefix()));
        if plugin_configs::classify(&part.tree.value) == Kind::Companion {
            let config = companion(&part, &mut report.findings);
            report.companions.push((part.prefix(), config));
        }
        for located in plugin_configs::find(&part, &Names::default(), &mut report.findings) {
            report.findings.extend(compile(&located).err().into_iter().flatten());
            report.findings.extend(attributes::check(&located));
            report.plugins.push(located);
        }
    }
    if report.kinds().is_empty() && report.findings.is_empty() {
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

fn companion(part: &Part, findings: &mut Vec<Finding>) -> Option<config::Config> {
    let prefix = part.prefix();
    match config::parse(&part.tree.value.to_string()) {
        Ok(config) => {
            let warnings = config.warnings.iter();
            findings.extend(warnings.map(|words| Finding::warning(part.at.as_str(), "", words)));
            Some(config)
        }
        Err(errors) => {
            let fault = |fault: &config::ConfigError| {
                Finding::error(format!("{prefix}{}", fault.path), &fault.value, &fault.reason)
            };
            findings.extend(errors.iter().map(fault));
            None
        }
    }
}
