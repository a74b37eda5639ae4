//! What a model server answers: the OpenAI API, health, metrics and an echo for tests.

mod body;
mod completions;
mod echo;
mod error;
mod request;
mod stream;
mod wire;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use serde_json::json;

pub(crate) use error::ApiError;

use super::{
    control::MetricsMode,
    endpoint::Endpoint,
    metrics::{self, TEXT_FORMAT},
};

const SERVED_BY: HeaderName = HeaderName::from_static("x-served-by");

pub(crate) fn router(endpoint: Arc<Endpoint>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(completions::chat))
        .route("/v1/completions", post(completions::text))
        .route("/v1/models", get(models))
        .route("/health", get(async || StatusCode::OK))
        .route("/echo", any(echo::echo))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&endpoint), hang))
        .route("/metrics", get(engine_metrics))
        .method_not_allowed_fallback(async || ApiError::no_such_method())
        .fallback(async || ApiError::no_such_path())
        .layer(middleware::from_fn_with_state(Arc::clone(&endpoint), name_the_server))
        .with_state(endpoint)
}

async fn name_the_server(State(endpoint): State<Arc<Endpoint>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Ok(name) = HeaderValue::from_str(&endpoint.name) {
        response.headers_mut().insert(SERVED_BY, name);
    }
    response
}

/// Takes the request and never answers, while the endpoint is told to.
async fn hang(State(endpoint): State<Arc<Endpoint>>, request: Request, next: Next) -> Response {
    if endpoint.state().hang {
        return std::future::pending().await;
    }
    next.run(request).await
}

async fn models(State(endpoint): State<Arc<Endpoint>>) -> Response {
    let models: Vec<_> = endpoint
        .models
        .iter()
        .map(|id| {
            json!({
                "id": id,
                "object": "model",
                "created": 0,
                "owned_by": "headroom",
                "max_model_len": endpoint.limits.max_model_len,
            })
        })
        .collect();
    Json(json!({ "object": "list", "data": models })).into_response()
}

async fn engine_metrics(State(endpoint): State<Arc<Endpoint>>) -> Response {
    let mode = endpoint.state().metrics;
    match mode {
        MetricsMode::Ok => (TEXT_FORMAT, metrics::vllm(&endpoint, false)).into_response(),
        MetricsMode::Silent => (TEXT_FORMAT, metrics::vllm(&endpoint, true)).into_response(),
        MetricsMode::Error => {
            (StatusCode::INTERNAL_SERVER_ERROR, "failed on request, see /control\n").into_response()
        }
        MetricsMode::Stall => std::future::pending().await,
    }
}
