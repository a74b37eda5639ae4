//! Header names.

/// Where the request goes: the choice and where to retry, as Envoy's `override_host` policy reads it.
pub const DESTINATION: &str = "x-gateway-destination-endpoint";

/// Why a request was rejected, in llm-d's words.
pub const DROPPED_REASON: &str = "x-llm-d-request-dropped-reason";

/// Headers by which a client could steer where a request goes: removed before anything is decided.
pub const CLIENT_MAY_NOT_SEND: &[&str] = &[
    DESTINATION,
    "x-gateway-destination-endpoint-subset",
    "x-gateway-destination-endpoint-served",
    "x-prefiller-host-port",
    "x-encoder-hosts-ports",
    "x-data-parallel-host-port",
    "x-kv-cache-source-host-port",
];
