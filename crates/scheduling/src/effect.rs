//! What follows from a choice beside the destination.

use headroom_datalayer::{Address, Span};

/// Something that the proxy does once the request is placed. The core only says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Set a header of the request to the endpoint.
    RequestHeader {
        /// In lower case.
        name: String,
        /// The value.
        value: String,
    },
    /// Set a header of the response to the client.
    ResponseHeader {
        /// In lower case.
        name: String,
        /// The value.
        value: String,
    },
    /// Remember that the session belongs to the endpoint.
    Pin {
        /// The client's session id.
        session: String,
        /// Where it goes from now on.
        address: Address,
        /// How long it is remembered after its last request.
        ttl: Span,
    },
    /// Remember that the endpoint was chosen for a request without any cached prefix.
    ColdPick {
        /// Which.
        address: Address,
    },
}

/// What a plugin is told of the choice.
#[derive(Clone, Copy)]
pub struct Picked<'a> {
    /// The profile that chose.
    pub profile: &'a str,
    /// Whether the request itself goes to the choice (and not a stage before it).
    pub primary: bool,
    /// The endpoint.
    pub choice: usize,
    /// Whether an endpoint could have been chosen: nothing but load or preference kept it out.
    pub could_serve: &'a dyn Fn(usize) -> bool,
}

impl std::fmt::Debug for Picked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Picked")
            .field("profile", &self.profile)
            .field("primary", &self.primary)
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
}
