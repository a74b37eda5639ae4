//! vLLM, version 1 and the names from before it.

use headroom_datalayer::well_known::{
    ACTIVE_MODELS, KV_CACHE_USAGE, MAX_ACTIVE_MODELS, RUNNING_REQUESTS_SIZE, WAITING_MODELS,
    WAITING_QUEUE_SIZE,
};

use super::table::{EngineTable, From, Range, Row};

const fn gauge(attribute: &'static str, metric: &'static str, range: Range) -> Row {
    Row { attribute, from: From::Gauge { metric, range } }
}

const fn config(attribute: &'static str, label: &'static str) -> Row {
    Row { attribute, from: From::InfoLabel { metric: "vllm:cache_config_info", label } }
}

const fn ratio(attribute: &'static str, hits: &'static str, queries: &'static str) -> Row {
    Row { attribute, from: From::Ratio { hits, queries } }
}

/// Which adapters are in use: a series for every state there has been.
const LORA: &str = "vllm:lora_requests_info";

/// vLLM's metrics.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "vllm",
    rows: &[
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
        config("CacheBlockSize", "block_size"),
        config("CacheNumBlocks", "num_gpu_blocks"),
        ratio("PrefixCacheHitRate", "vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
        ratio(
            "PrefixCacheHitRate",
            "vllm:gpu_prefix_cache_hits_total",
            "vllm:gpu_prefix_cache_queries_total",
        ),
        gauge("PrefixCacheHitRate", "vllm:gpu_prefix_cache_hit_rate", Range::Fraction),
        Row {
            attribute: "ServedModels",
            from: From::LabelNames {
                metrics: &[
                    "vllm:num_requests_running",
                    "vllm:num_requests_waiting",
                    "vllm:kv_cache_usage_perc",
                    "vllm:gpu_cache_usage_perc",
                ],
                label: "model_name",
            },
        },
    ],
};
