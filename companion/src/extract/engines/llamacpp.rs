//! llama.cpp's server. Source: `tools/server/README.md`.

use headroom_datalayer::well_known::{
    GENERATION_TOKEN_RATE, KV_CACHE_USAGE, PROMPT_TOKEN_RATE, RUNNING_REQUESTS_SIZE, WAITING_QUEUE_SIZE,
};

use crate::extract::table::{EngineTable, Range, gauge, rate};

/// The server's metrics. Newer versions tell nothing of the KV cache.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "llamacpp",
    aliases: &["llama.cpp", "llama-cpp"],
    prefix: "",
    same_scheduler: &[],
    rows: &[
        gauge(WAITING_QUEUE_SIZE, "llamacpp:requests_deferred", Range::NotNegative),
        gauge(RUNNING_REQUESTS_SIZE, "llamacpp:requests_processing", Range::NotNegative),
        gauge(KV_CACHE_USAGE, "llamacpp:kv_cache_usage_ratio", Range::Fraction),
        rate(PROMPT_TOKEN_RATE, "llamacpp:prompt_tokens_total"),
        rate(GENERATION_TOKEN_RATE, "llamacpp:tokens_predicted_total"),
    ],
};
