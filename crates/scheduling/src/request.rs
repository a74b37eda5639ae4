//! What scheduling needs to know about a request.

use std::collections::BTreeMap;

/// A request as the scheduler sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The model or adapter the client asked for; `None` for requests without a body, such as
    /// `GET /v1/models`.
    pub model: Option<String>,
    /// Whether the client asked for a stream of chunks.
    pub stream: bool,
    /// Estimated tokens of the prompt; `None` where there is no body.
    pub input_tokens: Option<u64>,
    /// The limit that the client set on the answer, in tokens.
    pub max_output_tokens: Option<u64>,
    /// Whether the prompt has images, audio or video.
    pub multimodal: bool,
    /// The headers that plugins ask for ([`Scheduler::headers`](crate::Scheduler::headers)); names are in
    /// lower case.
    pub headers: BTreeMap<String, String>,
}

impl Request {
    /// The trimmed value of a header; `None` for a missing or blank one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}
