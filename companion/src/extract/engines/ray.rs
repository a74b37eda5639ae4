//! vLLM under Ray Serve, scraped at a node's Ray metrics port. Ray puts its prefix before vLLM's names and knows no
//! colons in them. Source: `python/ray/dashboard/modules/metrics` of Ray.

use super::vllm;
use crate::extract::table::EngineTable;

/// vLLM's metrics as Ray hands them on. A replica whose worker was replaced is listed under both workers.
pub(super) const TABLE: EngineTable = EngineTable {
    name: "ray-vllm",
    aliases: &["ray-serve", "ray"],
    prefix: "ray_",
    same_scheduler: &["WorkerId", "SessionName"],
    rows: vllm::ROWS,
};
