//! The config file as it is written. The comments here are its reference.

use serde::Deserialize;

/// One name or several.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "must be a name or a list of names")]
pub(super) enum Names {
    One(String),
    Several(Vec<String>),
}

/// Declares a struct that also has the fields which describe an engine. They stand at the top level
/// of the file, where they hold for every endpoint, and in an endpoint, where they hold for it alone.
macro_rules! with_engine_fields {
    ($(#[$attribute:meta])* struct $name:ident { $($fields:tt)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        pub(super) struct $name {
            $($fields)*
            /// The model name, or a list of names that are all served. Default: `fake-model`.
            pub(super) model: Option<Names>,
            /// How fast the GPU is: at 0.5 every step takes twice as long. 0.01 to 100. Default: 1.
            pub(super) speed: Option<f64>,
            /// Load that something else puts on the GPU, a fraction 0 to 1. It shows in the GPU's
            /// utilisation and slows the engine down. Default: 0.
            pub(super) gpu_load: Option<f64>,
            /// The fraction of its speed that the engine loses at `gpuLoad: 1`, 0 to 0.95. Default: 0.7.
            pub(super) contention: Option<f64>,
            /// The batch limit: requests that run at once, 1 to 4096. Default: 32.
            pub(super) max_running: Option<u32>,
            /// Tokens that one step computes at most; a longer prefill is cut into chunks. At least
            /// `maxRunning`, at most 1000000. Default: 2048.
            pub(super) max_batched_tokens: Option<u32>,
            /// Blocks in the KV cache, 1 to 10000000. Default: 4096.
            pub(super) kv_blocks: Option<u32>,
            /// Tokens in a block, 1 to 1024. Default: 16.
            pub(super) block_size: Option<u32>,
            /// Prompt and output of a request together, in tokens, at most; what the KV cache holds
            /// is a limit in any case. Default: what the KV cache holds.
            pub(super) max_model_len: Option<u32>,
            /// Tokens that a request without `max_tokens` gets, 1 to 100000. Default: 64.
            pub(super) default_output_tokens: Option<u32>,
            /// The part of a step's time that is always there, in ms, 0.1 to 60000. Default: 8.
            pub(super) step_ms: Option<f64>,
            /// The fraction of `stepMs` in which the host works and the GPU idles, 0 to 1: it keeps
            /// the utilisation of a lightly loaded engine below 1. Default: 0.4.
            pub(super) host_share: Option<f64>,
            /// What each request in the batch adds to a step, in ms, 0 to 1000. Default: 0.15.
            pub(super) per_sequence_step_ms: Option<f64>,
            /// What each prompt token that is not in the prefix cache adds, in ms, 0 to 1000.
            /// Default: 0.03.
            pub(super) prefill_ms_per_token: Option<f64>,
            /// What each KV block in use adds to a step, in ms, 0 to 1000. Default: 0.001.
            pub(super) kv_read_ms_per_block: Option<f64>,
            /// How far a step's time strays to either side, as a fraction, 0 to 0.5. Default: 0.05.
            pub(super) jitter: Option<f64>,
        }

        impl From<&$name> for EngineFields {
            fn from(of: &$name) -> Self {
                Self {
                    model: of.model.clone(),
                    speed: of.speed,
                    gpu_load: of.gpu_load,
                    contention: of.contention,
                    max_running: of.max_running,
                    max_batched_tokens: of.max_batched_tokens,
                    kv_blocks: of.kv_blocks,
                    block_size: of.block_size,
                    max_model_len: of.max_model_len,
                    default_output_tokens: of.default_output_tokens,
                    step_ms: of.step_ms,
                    host_share: of.host_share,
                    per_sequence_step_ms: of.per_sequence_step_ms,
                    prefill_ms_per_token: of.prefill_ms_per_token,
                    kv_read_ms_per_block: of.kv_read_ms_per_block,
                    jitter: of.jitter,
                }
            }
        }
    };
}

with_engine_fields! {
    /// The config of `headroom fake-pool`.
    struct Root {
        /// Everything that looks random follows from it, 0 to 18446744073709551615. Default: 0.
        pub(super) seed: u64,
        /// The host that the GPU exporter reports. Default: `fake-node`.
        pub(super) hostname: Option<String>,
        /// The GPU exporter, which also answers `/control`. Default: `{listen: "127.0.0.1:9400"}`.
        pub(super) exporter: Option<Exporter>,
        /// The model servers, at least one.
        pub(super) endpoints: Vec<Endpoint>,
    }
}

with_engine_fields! {
    /// One model server with its GPU.
    struct Endpoint {
        /// `ip:port` to listen on; port 0 takes a free one. Default: `127.0.0.1:0`.
        pub(super) listen: Option<String>,
        /// What `x-served-by` and `/control` call it: letters, digits, `.`, `_` and `-`, unique.
        /// Default: `endpoint-` and its place in the list, from 0.
        pub(super) name: Option<String>,
        /// Its GPU as the exporter shows it. Default: as for `{}`.
        pub(super) gpu: Option<Gpu>,
    }
}

with_engine_fields! {
    /// What describes an engine.
    struct EngineFields {}
}

/// The GPU exporter of the pool.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Exporter {
    /// `ip:port` to listen on; port 0 takes a free one. Default: `127.0.0.1:9400`.
    pub(super) listen: Option<String>,
}

/// One GPU as the exporter shows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Gpu {
    /// Unique in the pool. Default: made from the index, `GPU-00000000-0000-4000-8000-000000000003`
    /// for index 3.
    pub(super) uuid: Option<String>,
    /// The GPU's number on its host, 0 to 255, unique. Default: the endpoint's place in the list.
    pub(super) index: Option<u8>,
    /// Framebuffer in MiB, 1 to 10000000. Default: 81559.
    #[serde(rename = "memoryMiB")]
    pub(super) memory_mib: Option<u32>,
}
