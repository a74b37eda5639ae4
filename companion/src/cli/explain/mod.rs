//! `headroom explain`: what the filter would decide, and why, without Envoy; or what it did decide.

mod local;
mod logged;
mod read;
mod request;
mod snapshot;

use std::path::{Path, PathBuf};

use headroom_datalayer::Timestamp;
use headroom_filter::config::{PoolSpec, raw::OnNoData};
use headroom_scheduling::{Context, Detail, Explanation};

use super::finding::{Finding, lines};
use super::import::Names;
use super::{Answer, FAULTS, check, documents, parts, plugin_configs, read_stdin, read_text};

/// Arguments of `headroom explain`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "headroom explain --config FILE --snapshot FILE --request FILE [--seed N] [--json]\n       \
                      headroom explain --decision FILE [--json]"
)]
pub(crate) struct Args {
    #[command(flatten)]
    situation: Option<Situation>,
    /// Show the decisions in this log of Envoy's instead (- for stdin): lines with the filter state
    /// wasm.headroom_decision in them, or values of the explain.responseHeader.
    #[arg(long, value_name = "FILE", conflicts_with = "Situation", required_unless_present = "Situation")]
    decision: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// What to decide. docs/explain.md has every field of the files.
#[derive(Debug, clap::Args)]
struct Situation {
    /// The plugin's config, or anything that `headroom check` finds one in.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The pool's state, JSON: {"pool": "qwen", "endpoints": [{"address": "10.0.0.5:8000", "labels": {},
    /// "attributes": {"WaitingQueueSize": {"value": 3, "age": "200ms"}}, "inFlight": ["50ms"]}]}.
    #[arg(long, value_name = "FILE")]
    snapshot: PathBuf,
    /// The request, JSON: {"method": "POST", "path": "/v1/chat/completions", "headers": {}, "body": {"model": "m"}}.
    #[arg(long, value_name = "FILE")]
    request: PathBuf,
    /// All chance of the decision: the same seed gives the same decision.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[cfg(feature = "schema")]
pub(crate) fn snapshot_schema() -> serde_json::Value {
    schemars::schema_for!(snapshot::State).to_value()
}

#[cfg(feature = "schema")]
pub(crate) fn request_schema() -> serde_json::Value {
    schemars::schema_for!(request::Raw).to_value()
}

/// The time of the decision. Ages are relative to it, so any will do that is older than every age.
const NOW: Timestamp = Timestamp::from_millis(2_000_000_000_000);

/// Decides and explains, or shows what was decided.
pub(crate) fn run(args: &Args) -> Answer {
    let answer = match (&args.situation, &args.decision) {
        (Some(situation), _) => explain(situation, args.json),
        (None, Some(log)) => show(log, args.json),
        (None, None) => Ok(Answer::default()),
    };
    match answer {
        Ok(answer) | Err(answer) => answer,
    }
}

fn rendered(explanation: &Explanation, json: bool) -> String {
    if json {
        serde_json::to_string_pretty(explanation).unwrap_or_default() + "\n"
    } else {
        explanation.to_string()
    }
}

fn show(log: &Path, json: bool) -> Result<Answer, Answer> {
    let text = if log == Path::new("-") { read_stdin() } else { read_text(log) }?;
    let decisions = logged::decisions(&text);
    if decisions.is_empty() {
        let reason = "holds no decision; Envoy logs them where the access log has \
                      %FILTER_STATE(wasm.headroom_decision:PLAIN)%";
        return from(log, Err(vec![Finding::error("", "", reason)]));
    }
    let shown: Vec<String> = decisions.iter().map(|decision| rendered(decision, json)).collect();
    Ok(Answer { stdout: shown.join(if json { "" } else { "\n" }), ..Answer::default() })
}

fn explain(args: &Situation, json: bool) -> Result<Answer, Answer> {
    let snapshot = read_text(&args.snapshot)?;
    let snapshot: snapshot::State = from(&args.snapshot, read::read(&snapshot))?;
    let pool = pool(&args.config, snapshot.pool.as_deref())?;
    let (snapshot, known) = from(&args.snapshot, snapshot.compile(&pool.name, NOW))?;
    let request = read_text(&args.request)?;
    let request: request::Raw = from(&args.request, read::read(&request))?;
    let request = from(&args.request, request.compile(&pool))?;
    let local = known.local();
    let cx = Context { request: &request, snapshot: &snapshot, local, peer: None, now: NOW, seed: args.seed };
    let schedule = pool.scheduler.schedule(&cx);
    let explanation = Explanation::new(&schedule, &pool.scheduler, &cx, Detail::FULL);
    let mut answer = Answer { stdout: rendered(&explanation, json), ..Answer::default() };
    if snapshot.endpoints().is_empty() && pool.on_no_data == OnNoData::PassThrough {
        answer.stderr.push_str(
            "note: the pool's onNoData is passThrough, so Envoy's fallback policy places such a request\n",
        );
    }
    Ok(answer)
}

fn from<T>(file: &Path, result: Result<T, Vec<Finding>>) -> Result<T, Answer> {
    result.map_err(|findings| Answer { stderr: lines(file, &findings), code: FAULTS, ..Answer::default() })
}

/// The pool called `name`, or the only one.
fn pool(file: &Path, name: Option<&str>) -> Result<PoolSpec, Answer> {
    let text = read_text(file)?;
    let mut findings = Vec::new();
    let parts = from(file, parts::read(&text, &mut findings).map_err(|error| vec![error]))?;
    let mut pools = Vec::new();
    for part in &parts {
        findings.extend(documents::duplicates(&part.tree, &part.prefix()));
        for located in plugin_configs::find(part, &Names::default(), &mut findings) {
            match check::compile(&located) {
                Ok(config) => pools.extend(config.pools),
                Err(faults) => findings.extend(faults),
            }
        }
    }
    findings.retain(Finding::is_error);
    if !findings.is_empty() {
        return from(file, Err(findings));
    }
    let known: Vec<String> = pools.iter().map(|pool| pool.name.clone()).collect();
    let found = match (name, pools.len()) {
        (None, 1) => pools.pop(),
        (None, _) => None,
        (Some(name), _) => pools.into_iter().find(|pool| pool.name == name),
    };
    found.ok_or_else(|| {
        let reason = match name {
            Some(_) => "the snapshot is of a pool that the config does not have",
            None => "the snapshot must say with \"pool\" which of the config's pools it is of",
        };
        let reason = format!("{reason}; the config has: {}", known.join(", "));
        Answer {
            stderr: lines(file, &[Finding::error("", name.unwrap_or_default(), reason)]),
            code: FAULTS,
            ..Answer::default()
        }
    })
}
