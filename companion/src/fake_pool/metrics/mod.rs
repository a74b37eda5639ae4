//! What the engines and the exporter write on `/metrics`.

mod dcgm;
mod text;
mod vllm;

use axum::http::{HeaderName, header::CONTENT_TYPE};

pub(crate) use dcgm::dcgm;
pub(crate) use vllm::vllm;

/// The header of a Prometheus text answer.
pub(crate) const TEXT_FORMAT: [(HeaderName, &str); 1] =
    [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
