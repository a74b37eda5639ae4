//! What the demo says.

use std::{io::Write as _, path::Path, time::Duration};

use headroom_scheduling::Explanation;
use headroom_testbed::{access_log, wait};
use serde_json::{Map, Value, json};

use crate::scenario::{Processes, Run, Scenario};

/// A line on standard output.
pub(crate) fn line(text: &str) {
    // A reader that has gone away is no reason to fail.
    let _written = writeln!(std::io::stdout(), "{text}");
}

pub(crate) fn introduction(scenario: &Scenario) {
    let workload = &scenario.workload;
    line(&format!(
        "Four replicas: two fast, one at half speed (slow), one whose GPU a neighbour keeps busy (hot).\n\
         {} requests/s for {} s, about {} prompt and {} output tokens, streaming; seed {}, the same for every policy.\n",
        workload.rate,
        workload.length.as_secs(),
        workload.prompt_tokens,
        workload.output_tokens,
        workload.seed
    ));
}

/// The figures side by side, Headroom first.
pub(crate) fn comparison(runs: &[Run]) {
    let runs: Vec<&Run> = runs.iter().rev().collect();
    line("\nTime to first token and of the whole response, milliseconds:\n");
    line(&format!(
        "  {:<14}{:>9}{:>8}{:>12}{:>12}{:>12}{:>12}",
        "policy", "requests", "errors", "TTFT p50", "TTFT p95", "total p50", "total p95"
    ));
    for run in &runs {
        let r = &run.report;
        line(&format!(
            "  {:<14}{:>9}{:>8}{:>12.0}{:>12.0}{:>12.0}{:>12.0}",
            run.policy.title(),
            r.requests,
            r.errors,
            r.ttft_p50_ms,
            r.ttft_p95_ms,
            r.e2e_p50_ms,
            r.e2e_p95_ms
        ));
    }
    line("\nShare of the requests, and mean GPU utilisation under load:\n");
    let names: Vec<&String> = runs.first().map(|run| run.report.share.keys().collect()).unwrap_or_default();
    let cell = |run: &Run, name: &String| {
        let share = run.report.share.get(name).copied().unwrap_or_default();
        let utilization = run.utilization.get(name).copied().unwrap_or_default();
        format!("{:.0} % at {:.0} %", share * 100.0, utilization * 100.0)
    };
    line(&format!(
        "  {:<14}{}",
        "policy",
        names.iter().map(|name| format!("{name:>16}")).collect::<String>()
    ));
    for run in &runs {
        let cells: String = names.iter().map(|name| format!("{:>16}", cell(run, name))).collect();
        line(&format!("  {:<14}{cells}", run.policy.title()));
    }
    let late = runs.iter().map(|run| run.report.lateness_p99_ms).fold(0.0, f64::max);
    line(&format!("\n(The load generator itself was late by at most {late:.1} ms in 99 % of the requests.)"));
}

/// One decision in words: the latest one in which an endpoint was left out.
pub(crate) async fn decision(log: &Path) {
    // Envoy writes its access log in intervals.
    let look = || async {
        let entries = access_log::entries(log).ok()?;
        let decisions = entries.iter().rev().filter_map(access_log::decision);
        let mut explanations = decisions.filter_map(|json| serde_json::from_value::<Explanation>(json).ok());
        explanations.find(|explanation| !explanation.main.excluded.is_empty())
    };
    match wait::until("the access log has a decision", Duration::from_secs(15), look).await {
        Ok(explanation) => {
            line(&format!("\nOne decision, as the access log has it, in words:\n\n{explanation}"))
        }
        Err(error) => line(&format!("\nNo decision to show: {error:#}")),
    }
}

/// The figures for a program.
pub(crate) fn write_json(path: &Path, runs: &[Run]) -> anyhow::Result<()> {
    let mut policies = Map::new();
    for run in runs {
        let mut figures = serde_json::to_value(&run.report)?;
        if let Some(figures) = figures.as_object_mut() {
            figures.insert("utilization".to_owned(), serde_json::to_value(&run.utilization)?);
        }
        policies.insert(run.policy.name().to_owned(), figures);
    }
    std::fs::write(
        path,
        serde_json::to_string_pretty(&json!({"policies": Value::Object(policies)}))? + "\n",
    )?;
    line(&format!("figures written to {}", path.display()));
    Ok(())
}

pub(crate) fn addresses(processes: &Processes) {
    line("Left running; scripts/demo.sh --stop ends it.\n");
    line(&format!("  Envoy, send requests here   {}/v1/chat/completions", processes.envoy.url()));
    line(&format!("  Envoy admin, metrics        http://{}/stats/prometheus", processes.envoy.admin()));
    if let Some(companion) = &processes.companion {
        line(&format!("  companion                   http://{}/targets", companion.admin()));
    }
    line(&format!("  GPU exporter                {}", processes.pool.exporter_url()));
    for (replica, address) in processes.pool.replicas.iter().zip(processes.pool.addresses()) {
        line(&format!("  replica {:<20}http://{address}", replica.name));
    }
    line(&format!("  logs                        {}", processes.folder().display()));
}
