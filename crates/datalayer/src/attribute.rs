//! The table of attributes we know by name: unit, meaning, how long a value stays believable.

use std::ops::RangeInclusive;

use crate::Span;

/// How the values of several sources of one endpoint (ranks, GPUs) become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Added up.
    Sum,
    /// Arithmetic mean.
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Bit masks or-ed together.
    BitOr,
    /// The series with the latest value of its own.
    Latest,
    /// Names of all sources together.
    Union,
}

/// One row of the attribute table.
#[derive(Clone, Copy, Debug)]
pub struct AttributeInfo {
    /// The name, llm-d's where it has one.
    pub name: &'static str,
    /// Unit of the value; fractions are 0 to 1.
    pub unit: &'static str,
    /// How several sources of one endpoint are combined.
    pub combine: Combine,
    /// A value older than this is missing, unless the pool or the plugin says otherwise.
    pub max_age: Span,
    /// What it says, in one sentence.
    pub meaning: &'static str,
}

impl AttributeInfo {
    /// Whether it comes from an exporter of hardware counters, and not from the model server.
    pub fn is_hardware(&self) -> bool {
        self.max_age == HARDWARE
    }

    /// The numbers that can be. One outside is a fault of its source, and no measurement.
    pub fn possible(&self) -> RangeInclusive<f64> {
        match self.unit {
            "fraction" | "0 or 1" => 0.0..=1.0,
            _ => 0.0..=f64::MAX,
        }
    }
}

/// Names of the attributes that plugins refer to in code.
pub mod well_known {
    /// Requests that wait in the engine's queue.
    pub const WAITING_QUEUE_SIZE: &str = "WaitingQueueSize";
    /// Requests that the engine is running.
    pub const RUNNING_REQUESTS_SIZE: &str = "RunningRequestsSize";
    /// Fraction of the KV cache in use.
    pub const KV_CACHE_USAGE: &str = "KVCacheUsagePercent";
    /// Fraction of time the busiest GPU of the endpoint was active.
    pub const GPU_UTILIZATION: &str = "GPUUtilization";
    /// Tokens in one KV-cache block.
    pub const CACHE_BLOCK_SIZE: &str = "CacheBlockSize";
    /// KV-cache blocks the engine has.
    pub const CACHE_NUM_BLOCKS: &str = "CacheNumBlocks";
    /// Share of prompt tokens found in the prefix cache.
    pub const PREFIX_CACHE_HIT_RATE: &str = "PrefixCacheHitRate";
    /// Prompt tokens that the engine takes in, in a second.
    pub const PROMPT_TOKEN_RATE: &str = "PromptTokenRate";
    /// Tokens that the engine generates in a second.
    pub const GENERATION_TOKEN_RATE: &str = "GenerationTokenRate";
    /// Model names the engine serves.
    pub const SERVED_MODELS: &str = "ServedModels";
    /// Longest context, in tokens.
    pub const MAX_MODEL_LEN: &str = "MaxModelLen";
    /// Adapters that are loaded.
    pub const ACTIVE_MODELS: &str = "ActiveModels";
    /// Adapters that wait to be loaded.
    pub const WAITING_MODELS: &str = "WaitingModels";
    /// Adapters that fit at once.
    pub const MAX_ACTIVE_MODELS: &str = "MaxActiveModels";
    /// Whether the endpoint can be reached and serves: 1 or 0.
    pub const READY: &str = "Ready";
}

/// Engines are scraped several times a second.
const ENGINE: Span = Span::from_secs(5);
/// Exporters of hardware counters refresh more slowly than they are scraped (dcgm-exporter: 30 s by default).
const HARDWARE: Span = Span::from_secs(40);
/// Facts that change when the engine restarts.
const STATIC: Span = Span::from_secs(600);

const fn row(
    name: &'static str,
    unit: &'static str,
    combine: Combine,
    max_age: Span,
    meaning: &'static str,
) -> AttributeInfo {
    AttributeInfo { name, unit, combine, max_age, meaning }
}

/// Every attribute with a meaning of its own. Any other name is a custom attribute.
pub const ATTRIBUTES: &[AttributeInfo] = &[
    row(
        well_known::WAITING_QUEUE_SIZE,
        "requests",
        Combine::Sum,
        ENGINE,
        "Requests waiting in the engine's queue.",
    ),
    row(
        well_known::RUNNING_REQUESTS_SIZE,
        "requests",
        Combine::Sum,
        ENGINE,
        "Requests the engine is running.",
    ),
    row(
        well_known::KV_CACHE_USAGE,
        "fraction",
        Combine::Mean,
        ENGINE,
        "Share of the KV cache in use, 0 to 1.",
    ),
    row(well_known::CACHE_BLOCK_SIZE, "tokens", Combine::Max, STATIC, "Tokens in one KV-cache block."),
    row(well_known::CACHE_NUM_BLOCKS, "blocks", Combine::Sum, STATIC, "KV-cache blocks the engine has."),
    row(
        well_known::PREFIX_CACHE_HIT_RATE,
        "fraction",
        Combine::Mean,
        ENGINE,
        "Prompt tokens found in the prefix cache, hits over queries.",
    ),
    row(
        well_known::PROMPT_TOKEN_RATE,
        "tokens per second",
        Combine::Sum,
        ENGINE,
        "Prompt tokens that the engine takes in, over the last second or more.",
    ),
    row(
        well_known::GENERATION_TOKEN_RATE,
        "tokens per second",
        Combine::Sum,
        ENGINE,
        "Tokens that the engine generates, over the last second or more.",
    ),
    row(well_known::SERVED_MODELS, "names", Combine::Union, STATIC, "Model names the engine serves."),
    row(well_known::MAX_MODEL_LEN, "tokens", Combine::Min, STATIC, "The longest context the engine takes."),
    row(well_known::ACTIVE_MODELS, "names", Combine::Latest, ENGINE, "Adapters that are loaded."),
    row(well_known::WAITING_MODELS, "names", Combine::Latest, ENGINE, "Adapters that wait to be loaded."),
    row(well_known::MAX_ACTIVE_MODELS, "count", Combine::Latest, STATIC, "Adapters that fit at once."),
    row(
        well_known::READY,
        "0 or 1",
        Combine::Min,
        ENGINE,
        "Whether the companion reaches the endpoint: 1, or 0 when it refuses connections.",
    ),
    row(
        well_known::GPU_UTILIZATION,
        "fraction",
        Combine::Max,
        HARDWARE,
        "Time the busiest GPU of the endpoint was active.",
    ),
    row("SMActive", "fraction", Combine::Max, HARDWARE, "Share of streaming multiprocessors with work."),
    row("TensorActive", "fraction", Combine::Max, HARDWARE, "Time the tensor cores were active."),
    row("DRAMActive", "fraction", Combine::Max, HARDWARE, "Time the memory interface was active."),
    row(
        "GPUMemoryUsedBytes",
        "bytes",
        Combine::Sum,
        HARDWARE,
        "Framebuffer in use over the endpoint's GPUs.",
    ),
    row("GPUMemoryTotalBytes", "bytes", Combine::Sum, HARDWARE, "Framebuffer of the endpoint's GPUs."),
    row(
        "GPUMemoryReservedBytes",
        "bytes",
        Combine::Sum,
        HARDWARE,
        "Framebuffer that the driver keeps for itself, over the endpoint's GPUs.",
    ),
    row(
        "GPUMemoryFreeBytes",
        "bytes",
        Combine::Min,
        HARDWARE,
        "Free framebuffer of the endpoint's fullest GPU.",
    ),
    row("GPUPowerWatts", "watts", Combine::Sum, HARDWARE, "Power draw over the endpoint's GPUs."),
    row(
        "GPUTemperatureCelsius",
        "degrees Celsius",
        Combine::Max,
        HARDWARE,
        "Temperature of the hottest GPU.",
    ),
    row(
        "GPUThrottleReasons",
        "bit mask",
        Combine::BitOr,
        HARDWARE,
        "Why any of the endpoint's GPUs runs below its clock, as NVML's clocks-event-reason bits.",
    ),
    row(
        "GPUXidErrors",
        "code",
        Combine::Max,
        HARDWARE,
        "The largest of the last XID error codes of the endpoint's GPUs; 0 for none.",
    ),
];

/// The table row of `name`, if it is one of [`ATTRIBUTES`].
pub fn attribute_info(name: &str) -> Option<&'static AttributeInfo> {
    ATTRIBUTES.iter().find(|info| info.name == name)
}

/// An attribute as a config names it: ours, a custom one, or an alias of ours in another unit.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeRef {
    /// The name under which samples are stored.
    pub key: String,
    /// Factor from the stored unit to the unit the config uses.
    pub scale: f64,
}

/// Spelling in configs, the attribute behind it, and the factor to the alias' unit.
const ALIASES: &[(&str, &str, f64)] = &[
    ("custom.gpu_utilization_percent", well_known::GPU_UTILIZATION, 100.0),
    ("custom.kv_cache_usage_percent", well_known::KV_CACHE_USAGE, 100.0),
    ("custom.queue_depth", well_known::WAITING_QUEUE_SIZE, 1.0),
    ("custom.running_requests", well_known::RUNNING_REQUESTS_SIZE, 1.0),
];

/// The other spellings that configs may use for well-known attributes.
pub fn attribute_aliases() -> impl Iterator<Item = &'static str> + Clone {
    ALIASES.iter().map(|(alias, ..)| *alias)
}

impl AttributeRef {
    /// Resolves the spelling in a config.
    pub fn resolve(name: &str) -> Self {
        match ALIASES.iter().find(|(alias, ..)| *alias == name) {
            Some((_, key, scale)) => Self { key: (*key).to_owned(), scale: *scale },
            None => Self { key: name.to_owned(), scale: 1.0 },
        }
    }

    /// The numbers that can be, in the stored unit; of a custom attribute any.
    pub fn possible(&self) -> RangeInclusive<f64> {
        attribute_info(&self.key).map_or(f64::MIN..=f64::MAX, AttributeInfo::possible)
    }

    /// How old a value may be when neither the pool nor the plugin says.
    pub fn default_max_age(&self) -> Span {
        attribute_info(&self.key).map_or(ENGINE, |info| info.max_age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_aliases_lead_to_known_attributes() {
        for (i, info) in ATTRIBUTES.iter().enumerate() {
            assert!(
                ATTRIBUTES.iter().skip(i + 1).all(|other| other.name != info.name),
                "{} twice",
                info.name
            );
        }
        for (alias, key, scale) in ALIASES {
            assert!(attribute_info(key).is_some(), "{alias} leads to unknown {key}");
            assert!(*scale > 0.0);
        }
    }
}
