//! Text Generation Inference. Source: `docs/source/reference/metrics.md`.

use headroom_datalayer::well_known::{
    GENERATION_TOKEN_RATE, PROMPT_TOKEN_RATE, RUNNING_REQUESTS_SIZE, WAITING_QUEUE_SIZE,
};

use crate::extract::table::{EngineTable, Range, gauge, rate};

/// TGI's metrics. It tells nothing of its KV cache. Tokens are counted when a request ends.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "tgi",
    aliases: &["text-generation-inference"],
    prefix: "",
    same_scheduler: &[],
    rows: &[
        gauge(WAITING_QUEUE_SIZE, "tgi_queue_size", Range::NotNegative),
        gauge(RUNNING_REQUESTS_SIZE, "tgi_batch_current_size", Range::NotNegative),
        rate(PROMPT_TOKEN_RATE, "tgi_request_input_length_sum"),
        rate(GENERATION_TOKEN_RATE, "tgi_request_generated_tokens_sum"),
    ],
};
