//! The GPU exporter's listener: metrics as dcgm-exporter writes them, and the control interface.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};

use super::{
    api::ApiError,
    control::{self, ExporterMode},
    metrics::{self, TEXT_FORMAT},
    pool::Pool,
};

pub(crate) fn router(pool: Arc<Pool>) -> Router {
    Router::new()
        .route("/metrics", get(gpu_metrics))
        .route("/control", get(control::show).post(control::change_all))
        .route("/control/{endpoint}", post(control::change_one))
        .fallback(async || ApiError::no_such_path())
        .with_state(pool)
}

async fn gpu_metrics(State(pool): State<Arc<Pool>>) -> Response {
    match pool.exporter_mode() {
        ExporterMode::Ok => (TEXT_FORMAT, metrics::dcgm(&pool)).into_response(),
        ExporterMode::Error => {
            (StatusCode::INTERNAL_SERVER_ERROR, "failed on request, see /control\n").into_response()
        }
        ExporterMode::Stall => std::future::pending().await,
    }
}
