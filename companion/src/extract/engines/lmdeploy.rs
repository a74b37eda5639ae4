//! LMDeploy's API server. Source: `docs/en/advance/metrics.md`.

use headroom_datalayer::well_known::{
    GENERATION_TOKEN_RATE, KV_CACHE_USAGE, PROMPT_TOKEN_RATE, RUNNING_REQUESTS_SIZE, SERVED_MODELS,
    WAITING_QUEUE_SIZE,
};

use crate::extract::table::{EngineTable, Range, gauge, names, rate};

const RUNNING: &str = "lmdeploy:num_requests_running";
const WAITING: &str = "lmdeploy:num_requests_waiting";
const USAGE: &str = "lmdeploy:gpu_cache_usage_perc";

/// LMDeploy's metrics. What waits at the API server (`num_api_requests_waiting`) holds what waits at the engine.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "lmdeploy",
    aliases: &[],
    prefix: "",
    same_scheduler: &[],
    rows: &[
        gauge(WAITING_QUEUE_SIZE, WAITING, Range::NotNegative),
        gauge(RUNNING_REQUESTS_SIZE, RUNNING, Range::NotNegative),
        gauge(KV_CACHE_USAGE, USAGE, Range::Fraction),
        rate(PROMPT_TOKEN_RATE, "lmdeploy:prompt_tokens_total"),
        rate(GENERATION_TOKEN_RATE, "lmdeploy:generation_tokens_total"),
        names(SERVED_MODELS, &[RUNNING, WAITING, USAGE], "model_name"),
    ],
};
