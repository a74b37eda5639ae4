//! What each engine calls its metrics: one file an engine, and a line here.

mod llamacpp;
mod lmdeploy;
mod ray;
mod sglang;
mod tgi;
mod triton;
mod trtllm;
mod vllm;

use super::EngineTable;

/// The engines that can be read. Where a scrape fits several equally well, the earlier one is taken.
pub(crate) const ENGINES: &[EngineTable] = &[
    vllm::TABLE,
    sglang::TABLE,
    trtllm::TABLE,
    triton::TENSORRT_LLM,
    triton::TABLE,
    tgi::TABLE,
    llamacpp::TABLE,
    lmdeploy::TABLE,
    ray::TABLE,
];

/// The engine called `name` in a config or a label.
pub(crate) fn engine(name: &str) -> Option<&'static EngineTable> {
    ENGINES.iter().find(|table| table.name == name || table.aliases.contains(&name))
}
