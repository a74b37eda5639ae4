//! Triton: with the TensorRT-LLM backend, and any other backend.
//! Source: README of `triton-inference-server/tensorrtllm_backend`, `docs/user_guide/metrics.md` of the server.

use headroom_datalayer::well_known::{
    CACHE_BLOCK_SIZE, CACHE_NUM_BLOCKS, KV_CACHE_USAGE, RUNNING_REQUESTS_SIZE, SERVED_MODELS,
    WAITING_QUEUE_SIZE,
};

use crate::extract::table::{EngineTable, Range, Row, gauge, labelled, names};

const REQUESTS: &str = "nv_trt_llm_request_metrics";
const BLOCKS: &str = "nv_trt_llm_kv_cache_block_metrics";

const fn requests(attribute: &'static str, kind: &'static str) -> Row {
    labelled(attribute, REQUESTS, ("request_type", kind), Range::NotNegative)
}

const fn blocks(attribute: &'static str, kind: &'static str, range: Range) -> Row {
    labelled(attribute, BLOCKS, ("kv_cache_block_type", kind), range)
}

/// The TensorRT-LLM backend. Its "active" requests are those scheduled and those waiting together.
pub(super) const TENSORRT_LLM: EngineTable = EngineTable {
    name: "triton-trtllm",
    aliases: &["triton-tensorrt-llm"],
    prefix: "",
    same_scheduler: &[],
    rows: &[
        requests(WAITING_QUEUE_SIZE, "waiting"),
        requests(RUNNING_REQUESTS_SIZE, "scheduled"),
        blocks(KV_CACHE_USAGE, "fraction", Range::Fraction),
        blocks(CACHE_BLOCK_SIZE, "tokens_per", Range::Positive),
        blocks(CACHE_NUM_BLOCKS, "max", Range::Positive),
        names(SERVED_MODELS, &[REQUESTS], "model"),
    ],
};

/// Any other backend. What it is running is not told: `nv_inference_exec_count` is a total.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "triton",
    aliases: &[],
    prefix: "",
    same_scheduler: &[],
    rows: &[
        gauge(WAITING_QUEUE_SIZE, "nv_inference_pending_request_count", Range::NotNegative),
        gauge(RUNNING_REQUESTS_SIZE, "nv_inference_exec_count", Range::NotNegative),
        names(SERVED_MODELS, &["nv_inference_pending_request_count"], "model"),
    ],
};
