//! Replies that the filter gives itself, in the form of OpenAI's API.

use headroom_scheduling::Rejection;
use serde_json::json;

use crate::headers::DROPPED_REASON;

/// A response that ends the request here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalReply {
    /// HTTP status.
    pub status: u32,
    /// A JSON error object.
    pub body: String,
    /// Beside `content-type: application/json`.
    pub headers: Vec<(&'static str, &'static str)>,
}

fn reply(status: u32, kind: &str, code: &str, message: &str) -> LocalReply {
    let error = json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
    LocalReply { status, body: error.to_string(), headers: vec![("content-type", "application/json")] }
}

impl LocalReply {
    /// 400: the body cannot be understood.
    pub fn bad_request(message: &str) -> Self {
        reply(400, "invalid_request_error", "headroom_bad_request", message)
    }

    /// 413: the body is longer than the pool allows.
    pub fn too_large(limit: u64) -> Self {
        let message =
            format!("the request body is longer than this pool's limit of {limit} bytes (maxBodyBytes)");
        reply(413, "invalid_request_error", "headroom_body_too_large", &message)
    }

    /// 503: nothing is known of the pool, and it is configured not to guess.
    pub fn no_data(pool: &str) -> Self {
        let message = format!("pool {pool}: the feed has not told of any endpoint yet");
        reply(503, "server_error", "headroom_no_data", &message).with_reason("rejected-no-endpoints")
    }

    /// 400: the request asks for a profile that is not there.
    pub fn no_profile(pool: &str, reason: &str) -> Self {
        reply(400, "invalid_request_error", "headroom_no_profile", &format!("pool {pool}: {reason}"))
    }

    /// 503 or 429: nobody can serve, for the reason in `message`.
    pub fn rejected(rejection: &Rejection, message: &str, pool: &str) -> Self {
        let message = format!("pool {pool}: {message}");
        let no_endpoints =
            |code| reply(503, "server_error", code, &message).with_reason("rejected-no-endpoints");
        match rejection {
            Rejection::NoEndpoints => no_endpoints("headroom_no_endpoints"),
            Rejection::NoneCapable { .. } => no_endpoints("headroom_none_capable"),
            Rejection::NoneAvailable { .. } => no_endpoints("headroom_none_available"),
            Rejection::Saturated { .. } => reply(429, "rate_limit_error", "headroom_saturated", &message)
                .with_reason("rejected-saturated"),
        }
    }

    fn with_reason(mut self, reason: &'static str) -> Self {
        self.headers.push((DROPPED_REASON, reason));
        self
    }
}
