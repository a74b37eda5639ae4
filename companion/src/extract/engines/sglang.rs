//! SGLang. Source: `python/sglang/srt/metrics/collector.py`.

use headroom_datalayer::well_known::{
    CACHE_BLOCK_SIZE, CACHE_NUM_BLOCKS, GENERATION_TOKEN_RATE, KV_CACHE_USAGE, PREFIX_CACHE_HIT_RATE,
    PROMPT_TOKEN_RATE, RUNNING_REQUESTS_SIZE, SERVED_MODELS, WAITING_QUEUE_SIZE,
};

use crate::extract::table::{EngineTable, Range, gauge, info, names, rate};

const RUNNING: &str = "sglang:num_running_reqs";
const WAITING: &str = "sglang:num_queue_reqs";
const USAGE: &str = "sglang:token_usage";
const CACHE: &str = "sglang:cache_config_info";

/// SGLang's metrics. Each process that works for a scheduler reports it.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "sglang",
    aliases: &[],
    prefix: "",
    same_scheduler: &["pid"],
    rows: &[
        gauge(WAITING_QUEUE_SIZE, WAITING, Range::NotNegative),
        gauge(RUNNING_REQUESTS_SIZE, RUNNING, Range::NotNegative),
        gauge(KV_CACHE_USAGE, USAGE, Range::Fraction),
        info(CACHE_BLOCK_SIZE, CACHE, "page_size"),
        info(CACHE_NUM_BLOCKS, CACHE, "num_pages"),
        gauge(PREFIX_CACHE_HIT_RATE, "sglang:cache_hit_rate", Range::Fraction),
        rate(PROMPT_TOKEN_RATE, "sglang:prompt_tokens_total"),
        rate(GENERATION_TOKEN_RATE, "sglang:generation_tokens_total"),
        gauge(GENERATION_TOKEN_RATE, "sglang:gen_throughput", Range::NotNegative),
        names(SERVED_MODELS, &[RUNNING, WAITING, USAGE], "model_name"),
    ],
};
