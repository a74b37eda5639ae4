//! What scheduling needs to know about a request.

/// A request as the scheduler sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The model or adapter the client asked for; `None` for requests without a body, such as
    /// `GET /v1/models`.
    pub model: Option<String>,
    /// Whether the client asked for a stream of chunks.
    pub stream: bool,
}
