//! TensorRT-LLM's own server, `trtllm-serve`. Source: `tensorrt_llm/metrics/collector.py`.

use headroom_datalayer::well_known::{
    CACHE_BLOCK_SIZE, CACHE_NUM_BLOCKS, KV_CACHE_USAGE, PREFIX_CACHE_HIT_RATE, RUNNING_REQUESTS_SIZE,
    SERVED_MODELS, WAITING_QUEUE_SIZE,
};

use crate::extract::table::{EngineTable, Range, gauge, names};

const RUNNING: &str = "trtllm_num_requests_running";
const WAITING: &str = "trtllm_num_requests_waiting";
const USAGE: &str = "trtllm_kv_cache_utilization";

/// The metrics of `trtllm-serve`.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "trtllm",
    aliases: &["trtllm-serve", "tensorrt-llm"],
    prefix: "",
    same_scheduler: &[],
    rows: &[
        gauge(WAITING_QUEUE_SIZE, WAITING, Range::NotNegative),
        gauge(RUNNING_REQUESTS_SIZE, RUNNING, Range::NotNegative),
        gauge(KV_CACHE_USAGE, USAGE, Range::Fraction),
        gauge(PREFIX_CACHE_HIT_RATE, "trtllm_kv_cache_hit_rate", Range::Fraction),
        gauge(CACHE_BLOCK_SIZE, "trtllm_kv_cache_tokens_per_block", Range::Positive),
        gauge(CACHE_NUM_BLOCKS, "trtllm_kv_cache_max_blocks", Range::Positive),
        names(SERVED_MODELS, &[RUNNING, WAITING, USAGE], "model_name"),
    ],
};
