//! `/control`: what tests and the demo change while the pool runs.

use std::{collections::BTreeMap, fmt, ops::RangeInclusive, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{endpoint::Endpoint, engine::Condition, pool::Pool};

/// How an endpoint's `/metrics` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MetricsMode {
    /// As an engine does.
    Ok,
    /// With status 500.
    Error,
    /// Never.
    Stall,
    /// Without the engine's gauges and counters, as before the first step.
    Silent,
}

/// How the exporter's `/metrics` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExporterMode {
    /// As dcgm-exporter does.
    Ok,
    /// With status 500.
    Error,
    /// Never.
    Stall,
}

/// What a control request changes; what it does not name stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct EndpointChange {
    /// Load from elsewhere on the GPU, a fraction 0 to 1.
    pub(crate) gpu_load: Option<f64>,
    /// 0.01 to 100.
    pub(crate) speed: Option<f64>,
    /// How the endpoint's `/metrics` answers.
    pub(crate) metrics: Option<MetricsMode>,
    /// Whether everything but `/metrics` is taken and never answered.
    pub(crate) hang: Option<bool>,
    /// How the exporter answers, for all GPUs.
    pub(crate) exporter: Option<ExporterMode>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    exporter: ExporterMode,
    endpoints: BTreeMap<String, ShownEndpoint>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownEndpoint {
    gpu_load: f64,
    speed: f64,
    metrics: MetricsMode,
    hang: bool,
    running: usize,
    waiting: usize,
    kv_usage: f64,
    utilization: f64,
    served: u64,
    aborted: u64,
    preemptions: u64,
}

/// `GET /control`: the state of the whole pool.
pub(crate) async fn show(State(pool): State<Arc<Pool>>) -> Response {
    let endpoints = pool.endpoints.iter().map(|endpoint| (endpoint.name.clone(), shown(endpoint))).collect();
    Json(Shown { exporter: pool.exporter_mode(), endpoints }).into_response()
}

/// `POST /control`: changes every endpoint.
pub(crate) async fn change_all(State(pool): State<Arc<Pool>>, body: Bytes) -> Response {
    match read(&body) {
        Ok(change) => apply(&pool, &pool.endpoints, &change),
        Err(reason) => refuse(StatusCode::BAD_REQUEST, &reason),
    }
}

/// `POST /control/<endpoint name>`: changes one endpoint.
pub(crate) async fn change_one(
    State(pool): State<Arc<Pool>>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    let Some(endpoint) = pool.endpoints.iter().find(|endpoint| endpoint.name == name) else {
        let names: Vec<_> = pool.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
        let reason = format!("there is no endpoint {name:?}; there are: {}", names.join(", "));
        return refuse(StatusCode::NOT_FOUND, &reason);
    };
    match read(&body) {
        Ok(change) => apply(&pool, std::slice::from_ref(endpoint), &change),
        Err(reason) => refuse(StatusCode::BAD_REQUEST, &reason),
    }
}

fn apply(pool: &Pool, endpoints: &[Arc<Endpoint>], change: &EndpointChange) -> Response {
    if let Some(mode) = change.exporter {
        pool.set_exporter_mode(mode);
    }
    let shown: BTreeMap<_, _> = endpoints
        .iter()
        .map(|endpoint| {
            endpoint.change(change);
            (endpoint.name.clone(), shown(endpoint))
        })
        .collect();
    Json(Shown { exporter: pool.exporter_mode(), endpoints: shown }).into_response()
}

fn read(body: &[u8]) -> Result<EndpointChange, String> {
    let reader = &mut serde_json::Deserializer::from_slice(body);
    let change: EndpointChange =
        serde_path_to_error::deserialize(reader).map_err(|error| error.to_string())?;
    in_range("gpuLoad", change.gpu_load, Condition::GPU_LOAD)?;
    in_range("speed", change.speed, Condition::SPEED)?;
    Ok(change)
}

fn in_range<T: PartialOrd + fmt::Display>(
    name: &str,
    value: Option<T>,
    range: RangeInclusive<T>,
) -> Result<(), String> {
    match value {
        Some(value) if !range.contains(&value) => {
            Err(format!("{name}: {value}: must be from {} to {}", range.start(), range.end()))
        }
        Some(_) | None => Ok(()),
    }
}

fn refuse(status: StatusCode, reason: &str) -> Response {
    (status, Json(json!({ "error": reason }))).into_response()
}

fn shown(endpoint: &Endpoint) -> ShownEndpoint {
    let state = endpoint.state();
    let engine = &state.engine;
    let condition = engine.condition();
    ShownEndpoint {
        gpu_load: condition.gpu_load,
        speed: condition.speed,
        metrics: state.metrics,
        hang: state.hang,
        running: engine.running(),
        waiting: engine.waiting(),
        kv_usage: engine.kv_usage(),
        utilization: engine.gpu_utilization(endpoint.now()),
        served: engine.stats().served(),
        aborted: engine.stats().aborted,
        preemptions: engine.stats().preemptions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_named_and_refuses_the_rest() {
        let change = read(br#"{"gpuLoad": 0.5, "metrics": "silent"}"#).expect("valid");
        let expected =
            EndpointChange { gpu_load: Some(0.5), metrics: Some(MetricsMode::Silent), ..Default::default() };
        assert_eq!(change, expected);
        for (body, part) in [
            (r#"{"gpuLoad": 1.5}"#, "gpuLoad: 1.5: must be from 0 to 1"),
            (r#"{"speed": 0}"#, "speed: 0: must be from 0.01 to 100"),
            (r#"{"metrics": "off"}"#, "metrics: unknown variant `off`"),
            (r#"{"load": 1}"#, "unknown field `load`"),
            ("", "EOF"),
        ] {
            let error = read(body.as_bytes()).expect_err(body);
            assert!(error.contains(part), "{body}: {error}");
        }
    }
}
