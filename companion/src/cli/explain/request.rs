//! The request as `headroom explain` reads it.

use std::collections::BTreeMap;

use headroom_filter::body;
use headroom_filter::config::PoolSpec;
use headroom_scheduling::Request;
use serde::Deserialize;

use crate::cli::finding::Finding;

/// A request of a client.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    /// Default `POST`.
    #[serde(default = "default_method")]
    method: String,
    /// Default `/v1/chat/completions`.
    #[serde(default = "default_path")]
    path: String,
    /// Header names in any case.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// JSON, or a string with the body's exact text. Absent for requests without one.
    #[serde(default)]
    body: Option<serde_json::Value>,
}

fn default_method() -> String {
    "POST".to_owned()
}

fn default_path() -> String {
    "/v1/chat/completions".to_owned()
}

impl Raw {
    /// As the filter hands it to the scheduler of `pool`.
    ///
    /// # Errors
    /// What the filter would answer by itself.
    pub(super) fn compile(self, pool: &PoolSpec) -> Result<Request, Vec<Finding>> {
        let wrong = |path: &str, reason: String| vec![Finding::error(path, "", reason)];
        let mut request = if body::is_inference(&self.method, &self.path) {
            let text = match self.body {
                None => String::new(),
                Some(serde_json::Value::String(text)) => text,
                Some(json) => json.to_string(),
            };
            let limit = pool.max_body_bytes;
            if u64::try_from(text.len()).is_ok_and(|length| length > limit) {
                let reason = format!("the filter answers 413: longer than maxBodyBytes, {limit}");
                return Err(wrong("body", reason));
            }
            body::read(text.as_bytes())
                .map_err(|reason| wrong("body", format!("the filter answers 400: {reason}")))?
        } else {
            Request::default()
        };
        for (name, value) in self.headers {
            let name = name.to_lowercase();
            if pool.headers.contains(&name) && request.headers.insert(name.clone(), value).is_some() {
                return Err(wrong(&format!("headers.{name}"), "is given twice".to_owned()));
            }
        }
        Ok(request)
    }
}
