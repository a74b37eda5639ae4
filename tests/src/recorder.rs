//! A model server that tells what reached it.

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    response::Json,
};
use serde_json::{Map, Value, json};

/// Answers every request with its method, path, headers, body length and a checksum of the body.
#[derive(Debug)]
pub struct Recorder {
    /// `ip:port`.
    pub address: String,
    task: tokio::task::JoinHandle<()>,
}

impl Recorder {
    /// Starts it on a port of the system's choice.
    ///
    /// # Errors
    /// When it can't listen.
    pub async fn start() -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let task = tokio::spawn(async move {
            let _ended = axum::serve(listener, Router::new().fallback(record)).await;
        });
        Ok(Self { address, task })
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn record(request: Request<Body>) -> Json<Value> {
    let (head, body) = request.into_parts();
    let mut headers = Map::new();
    for (name, value) in &head.headers {
        headers.insert(name.to_string(), String::from_utf8_lossy(value.as_bytes()).into());
    }
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let path = head.uri.to_string();
    Json(json!({
        "method": head.method.as_str(), "path": path, "headers": headers,
        "length": body.len(), "checksum": checksum(&body),
    }))
}

/// A number that differs when the bytes do (FNV-1a).
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
