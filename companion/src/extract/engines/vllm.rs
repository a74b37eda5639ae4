//! vLLM, version 1 and the names from before it.
//! Source: `vllm/v1/metrics/loggers.py`, and `docs/design/metrics.md` for the older names.

use headroom_datalayer::well_known::{
    ACTIVE_MODELS, CACHE_BLOCK_SIZE, CACHE_NUM_BLOCKS, GENERATION_TOKEN_RATE, KV_CACHE_USAGE,
    MAX_ACTIVE_MODELS, PREFIX_CACHE_HIT_RATE, PROMPT_TOKEN_RATE, RUNNING_REQUESTS_SIZE, SERVED_MODELS,
    WAITING_MODELS, WAITING_QUEUE_SIZE,
};

use crate::extract::table::{EngineTable, From, Range, Row, gauge, info, names, rate, ratio};

/// Which adapters are in use: a series for every state there has been.
const LORA: &str = "vllm:lora_requests_info";
const CACHE: &str = "vllm:cache_config_info";

/// vLLM's metrics.
pub(super) const TABLE: EngineTable =
    EngineTable { name: "vllm", aliases: &[], prefix: "", same_scheduler: &[], rows: ROWS };

/// The rows, for all who hand on vLLM's metrics.
pub(super) const ROWS: &[Row] = &[
    gauge(WAITING_QUEUE_SIZE, "vllm:num_requests_waiting", Range::NotNegative),
    gauge(RUNNING_REQUESTS_SIZE, "vllm:num_requests_running", Range::NotNegative),
    gauge(KV_CACHE_USAGE, "vllm:kv_cache_usage_perc", Range::Fraction),
    gauge(KV_CACHE_USAGE, "vllm:gpu_cache_usage_perc", Range::Fraction),
    Row {
        attribute: ACTIVE_MODELS,
        from: From::LatestNames { metric: LORA, label: "running_lora_adapters" },
    },
    Row {
        attribute: WAITING_MODELS,
        from: From::LatestNames { metric: LORA, label: "waiting_lora_adapters" },
    },
    Row { attribute: MAX_ACTIVE_MODELS, from: From::LatestNumber { metric: LORA, label: "max_lora" } },
    info(CACHE_BLOCK_SIZE, CACHE, "block_size"),
    info(CACHE_NUM_BLOCKS, CACHE, "num_gpu_blocks"),
    ratio(PREFIX_CACHE_HIT_RATE, "vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
    ratio(PREFIX_CACHE_HIT_RATE, "vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_queries_total"),
    gauge(PREFIX_CACHE_HIT_RATE, "vllm:gpu_prefix_cache_hit_rate", Range::Fraction),
    rate(PROMPT_TOKEN_RATE, "vllm:prompt_tokens_total"),
    rate(GENERATION_TOKEN_RATE, "vllm:generation_tokens_total"),
    names(
        SERVED_MODELS,
        &[
            "vllm:num_requests_running",
            "vllm:num_requests_waiting",
            "vllm:kv_cache_usage_perc",
            "vllm:gpu_cache_usage_perc",
        ],
        "model_name",
    ),
];
