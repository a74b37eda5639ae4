//! Requests as a client of the pool sends them.

use serde_json::{Value, json};

/// A client without limits of its own; HTTP/1.1.
pub fn client() -> reqwest::Client {
    reqwest::Client::builder().pool_max_idle_per_host(256).no_proxy().build().unwrap_or_default()
}

/// A client that speaks HTTP/2 at once.
pub fn client_h2() -> reqwest::Client {
    reqwest::Client::builder().http2_prior_knowledge().no_proxy().build().unwrap_or_default()
}

/// A chat request.
pub fn chat(prompt: &str, max_tokens: u32, stream: bool) -> Value {
    json!({
        "model": "qwen", "max_tokens": max_tokens, "stream": stream,
        "messages": [{"role": "user", "content": prompt}],
    })
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Who served it: `x-served-by`.
    pub served_by: String,
    /// Response headers.
    pub headers: reqwest::header::HeaderMap,
    /// The whole body.
    pub body: String,
}

impl Answer {
    /// A response header as text, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as JSON, null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Sends a request and reads the answer whole.
///
/// # Errors
/// When the connection fails before the answer is complete.
pub async fn send(request: reqwest::RequestBuilder) -> anyhow::Result<Answer> {
    let response = request.send().await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let served_by =
        headers.get("x-served-by").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    Ok(Answer { status, served_by, headers, body: response.text().await? })
}

/// Posts a body to a path.
///
/// # Errors
/// When the connection fails before the answer is complete.
pub async fn post(
    client: &reqwest::Client,
    url: &str,
    body: impl Into<reqwest::Body>,
) -> anyhow::Result<Answer> {
    send(client.post(url).header("content-type", "application/json").body(body)).await
}
