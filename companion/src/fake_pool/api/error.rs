//! Errors in the form of the OpenAI API.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::fake_pool::engine::Refused;

/// Why a request gets no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    kind: &'static str,
    param: Option<&'static str>,
    message: String,
}

impl ApiError {
    pub(crate) fn bad_request(param: Option<&'static str>, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, kind: "BadRequestError", param, message: message.into() }
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("the body is longer than {limit} bytes");
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, kind: "BadRequestError", param: None, message }
    }

    pub(crate) fn no_such_model(model: &str, served: &[String]) -> Self {
        let message = format!("The model `{model}` does not exist; served are: {}.", served.join(", "));
        Self { status: StatusCode::NOT_FOUND, kind: "NotFoundError", param: Some("model"), message }
    }

    pub(crate) fn no_such_path() -> Self {
        let message = "there is nothing under this path".to_owned();
        Self { status: StatusCode::NOT_FOUND, kind: "NotFoundError", param: None, message }
    }

    pub(crate) fn no_such_method() -> Self {
        let message = "this path does not take this method".to_owned();
        Self { status: StatusCode::METHOD_NOT_ALLOWED, kind: "MethodNotAllowedError", param: None, message }
    }

    /// The engine went away under the request.
    pub(crate) fn gone() -> Self {
        let message = "the engine stopped".to_owned();
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, kind: "InternalServerError", param: None, message }
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        let message = refused.to_string();
        match refused {
            Refused::TooLong { .. } | Refused::EmptyPrompt => Self::bad_request(None, message),
            Refused::NoOutput => Self::bad_request(Some("max_tokens"), message),
            Refused::QueueFull => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self { status, kind: "ServiceUnavailableError", param: None, message }
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { status, kind, param, message } = self;
        let error = json!({ "message": message, "type": kind, "param": param, "code": status.as_u16() });
        (status, Json(json!({ "error": error }))).into_response()
    }
}
