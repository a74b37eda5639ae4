//! The admin HTTP server.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use tokio::{net::TcpListener, sync::watch};

use super::{
    metrics::Metrics,
    targets::{sources_view, view},
};
use crate::{clock, discovery::Sources, publish::Hub, scrape::Targets};

/// More untried targets than a probe's log needs.
const NAMED_TARGETS: usize = 10;
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the admin pages are made of.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    /// The pools.
    pub(crate) hub: Arc<Hub>,
    /// The targets.
    pub(crate) targets: Arc<Targets>,
    /// What says which endpoints there are.
    pub(crate) sources: Arc<Sources>,
    /// The metrics.
    pub(crate) metrics: Arc<Metrics>,
    /// Turns true when the process is told to stop.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// Answers on `listener` until `closing` turns true.
///
/// # Errors
/// When the listener fails.
pub(crate) async fn serve(
    listener: TcpListener,
    admin: Admin,
    mut closing: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let router = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/targets", get(targets))
        .with_state(admin);
    axum::serve(listener, router)
        .with_graceful_shutdown(async move {
            let _closed = closing.wait_for(|closing| *closing).await;
        })
        .await
}

/// The feed listens before this server answers, so what is left to wait for is what endpoints there are, and the
/// first scrape of each target.
async fn readyz(State(admin): State<Admin>) -> Response {
    let untried = admin.targets.untried();
    let undiscovered = admin.hub.undiscovered();
    let reason = if *admin.stopping.borrow() {
        "the process is stopping".to_owned()
    } else if !undiscovered.is_empty() {
        format!("it is not known yet which endpoints there are in {}", undiscovered.join(", "))
    } else if untried.is_empty() {
        return Json(json!({"ready": true})).into_response();
    } else {
        format!("{} targets were not scraped yet", untried.len())
    };
    let named: Vec<&String> = untried.iter().take(NAMED_TARGETS).collect();
    let body = json!({"ready": false, "reason": reason, "untriedTargets": named});
    (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
}

async fn metrics(State(admin): State<Admin>) -> Response {
    match admin.metrics.render(&admin.hub, &admin.targets, &admin.sources, clock::now()) {
        Ok(text) => ([(header::CONTENT_TYPE, OPENMETRICS)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn targets(State(admin): State<Admin>) -> Response {
    let (targets, sources) = (view(&admin.targets, clock::now()), sources_view(&admin.sources));
    Json(json!({"targets": targets, "discovery": sources})).into_response()
}
