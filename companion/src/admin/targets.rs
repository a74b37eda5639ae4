//! `/targets`: what is known of each target.

use std::collections::BTreeMap;

use headroom_datalayer::Timestamp;
use serde::Serialize;

use crate::{
    discovery::Sources,
    scrape::{Health, State, Targets},
};

/// One target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetView {
    url: String,
    /// `pool/address` of each endpoint that it tells something about.
    endpoints: Vec<String>,
    /// `untried`, `good` or `bad`.
    state: &'static str,
    /// When the last scrape that gave values was sent, milliseconds since the Unix epoch.
    last_success_unix_ms: Option<u64>,
    last_success_age_ms: Option<u64>,
    last_duration_ms: Option<f64>,
    last_error: Option<String>,
    consecutive_failures: u32,
    scrapes: u64,
    /// Lines of the last answer that could not be read.
    parse_errors: usize,
    /// What the last answer held that could not be used, and why.
    notes: Vec<String>,
    /// GPUs in the last answer that belong to no endpoint, by reason; `null` for what is no exporter.
    unmatched_gpus: Option<BTreeMap<&'static str, usize>>,
    /// What the last answer is of: an engine, or an exporter.
    kind: Option<&'static str>,
}

/// One source of endpoints.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceView {
    pool: String,
    /// `config`, or the kind of source and where it is.
    source: String,
    /// How many endpoints it lists; `null` while it could not be asked yet.
    endpoints: Option<usize>,
    /// What is wrong with it.
    problems: Vec<String>,
}

/// All sources of endpoints.
pub(super) fn sources_view(sources: &Sources) -> Vec<SourceView> {
    let states = sources.states().into_iter();
    states
        .map(|state| SourceView {
            pool: state.pool,
            source: state.source,
            endpoints: state.endpoints,
            problems: state.problems,
        })
        .collect()
}

/// All targets.
pub(super) fn view(targets: &Targets, now: Timestamp) -> Vec<TargetView> {
    let mut views = Vec::new();
    targets.for_each(|url, endpoints, state| views.push(TargetView::new(url, endpoints, state, now)));
    views
}

impl TargetView {
    fn new(url: &str, endpoints: &[String], state: &State, now: Timestamp) -> Self {
        Self {
            url: url.to_owned(),
            endpoints: endpoints.to_vec(),
            state: match state.health {
                Health::Untried => "untried",
                Health::Good => "good",
                Health::Bad => "bad",
            },
            last_success_unix_ms: state.last_success.map(|at| at.as_micros() / 1_000),
            last_success_age_ms: state.last_success.map(|at| now.since(at).as_millis()),
            last_duration_ms: state.last_duration.map(|duration| duration.as_secs_f64() * 1e3),
            last_error: state.last_error.clone(),
            consecutive_failures: state.failures,
            scrapes: state.scrapes,
            parse_errors: state.parse_errors,
            notes: state.notes.clone(),
            unmatched_gpus: state.unmatched_gpus.map(|unmatched| unmatched.by_reason().into()),
            kind: state.kind,
        }
    }
}
