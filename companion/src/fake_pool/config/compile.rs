//! Raw types to types that cannot be wrong.

use std::{
    collections::HashSet,
    fmt::Display,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
};

use super::{
    Config, EndpointConfig, Gpu,
    raw::{self, EngineFields, Names},
};
use crate::{
    config::ConfigErrors,
    fake_pool::{
        engine::{Condition, Limits, Timing},
        fnv::Fnv,
    },
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Where dcgm-exporter listens.
const EXPORTER_PORT: u16 = 9400;
const MAX_NAME_LEN: usize = 63;

pub(super) fn compile(raw: &raw::Root, mut errors: ConfigErrors) -> Result<Config, ConfigErrors> {
    let exporter_listen = raw.exporter.as_ref().and_then(|exporter| exporter.listen.as_deref());
    let exporter = address("exporter.listen", exporter_listen, EXPORTER_PORT, &mut errors);
    let hostname = raw.hostname.clone().unwrap_or_else(|| "fake-node".to_owned());
    if hostname.is_empty() {
        errors.push("hostname", "\"\"", "must not be empty");
    }
    if raw.endpoints.is_empty() {
        errors.push("endpoints", "", "must list at least one endpoint");
    }
    let defaults = EngineFields::from(raw);
    // Also where no endpoint takes a default, a wrong one is an error, and once is enough.
    engine("", &[&defaults], &mut errors);
    let mut seen = Seen::default();
    seen.listen(exporter, "exporter.listen", &mut errors);
    let endpoints = raw
        .endpoints
        .iter()
        .enumerate()
        .map(|(index, endpoint)| one_endpoint(raw, &defaults, index, endpoint, &mut seen, &mut errors))
        .collect();
    if errors.is_empty() { Ok(Config { hostname, exporter, endpoints }) } else { Err(errors) }
}

fn one_endpoint(
    raw: &raw::Root,
    defaults: &EngineFields,
    place: usize,
    endpoint: &raw::Endpoint,
    seen: &mut Seen,
    errors: &mut ConfigErrors,
) -> EndpointConfig {
    let path = format!("endpoints[{place}]");
    let listen = address(&format!("{path}.listen"), endpoint.listen.as_deref(), 0, errors);
    seen.listen(listen, &format!("{path}.listen"), errors);
    let name = endpoint.name.clone().unwrap_or_else(|| format!("endpoint-{place}"));
    check_name(&name, &format!("{path}.name"), errors);
    seen.once("name", &name, &format!("{path}.name"), errors);
    let gpu = gpu(&path, place, endpoint.gpu.as_ref(), seen, errors);
    let own = EngineFields::from(endpoint);
    let parts = engine(&format!("{path}."), &[&own, defaults], errors);
    let mut seed = Fnv::default();
    seed.bytes(name.as_bytes());
    EndpointConfig {
        name,
        listen,
        models: parts.models,
        default_output_tokens: parts.default_output_tokens,
        limits: parts.limits,
        timing: parts.timing,
        condition: parts.condition,
        seed: raw.seed ^ seed.value(),
        gpu,
    }
}

struct Parts {
    models: Vec<String>,
    default_output_tokens: usize,
    limits: Limits,
    timing: Timing,
    condition: Condition,
}

/// Compiles the engine fields of the first of `layers` that has each; only what stands in the first
/// layer is checked, since the others are checked where they stand.
fn engine(prefix: &str, layers: &[&EngineFields], errors: &mut ConfigErrors) -> Parts {
    let mut fields = Fields { prefix, layers, errors };
    let max_running = fields.count("maxRunning", |f| f.max_running, 32, 1..=4096);
    let max_batched_tokens =
        fields.count("maxBatchedTokens", |f| f.max_batched_tokens, 2048.max(max_running), 1..=1_000_000);
    if max_batched_tokens < max_running {
        let reason = format!("must be at least maxRunning, which is {max_running}");
        let path = format!("{prefix}maxBatchedTokens");
        fields.errors.push(&path, max_batched_tokens, reason);
    }
    let kv_blocks = fields.count("kvBlocks", |f| f.kv_blocks, 4096, 1..=10_000_000);
    let block_size = fields.count("blockSize", |f| f.block_size, 16, 1..=1024);
    let capacity = kv_blocks.saturating_mul(block_size);
    let max_model_len = fields.count("maxModelLen", |f| f.max_model_len, u32::MAX, 2..=u32::MAX);
    let limits = Limits {
        max_running: max_running as usize,
        max_batched_tokens: max_batched_tokens as usize,
        kv_blocks: kv_blocks as usize,
        block_size: block_size as usize,
        max_model_len: max_model_len.min(capacity) as usize,
    };
    let timing = Timing {
        step_ms: fields.number("stepMs", |f| f.step_ms, 8.0, 0.1..=60_000.0),
        host_share: fields.number("hostShare", |f| f.host_share, 0.4, 0.0..=1.0),
        per_sequence_ms: fields.number("perSequenceStepMs", |f| f.per_sequence_step_ms, 0.15, 0.0..=1000.0),
        prefill_ms_per_token: fields.number(
            "prefillMsPerToken",
            |f| f.prefill_ms_per_token,
            0.03,
            0.0..=1000.0,
        ),
        kv_read_ms_per_block: fields.number(
            "kvReadMsPerBlock",
            |f| f.kv_read_ms_per_block,
            0.001,
            0.0..=1000.0,
        ),
        jitter: fields.number("jitter", |f| f.jitter, 0.05, 0.0..=0.5),
        contention: fields.number("contention", |f| f.contention, 0.7, 0.0..=0.95),
    };
    let condition = Condition {
        speed: fields.number("speed", |f| f.speed, 1.0, Condition::SPEED),
        gpu_load: fields.number("gpuLoad", |f| f.gpu_load, 0.0, Condition::GPU_LOAD),
    };
    let default_output_tokens =
        fields.count("defaultOutputTokens", |f| f.default_output_tokens, 64, 1..=100_000) as usize;
    Parts { models: fields.models(), default_output_tokens, limits, timing, condition }
}

struct Fields<'a> {
    prefix: &'a str,
    layers: &'a [&'a EngineFields],
    errors: &'a mut ConfigErrors,
}

impl Fields<'_> {
    fn get<T: Copy + PartialOrd + Display>(
        &mut self,
        name: &str,
        field: impl Fn(&EngineFields) -> Option<T>,
        default: T,
        range: RangeInclusive<T>,
    ) -> T {
        let value = self.layers.iter().find_map(|layer| field(layer)).unwrap_or(default);
        if range.contains(&value) {
            return value;
        }
        if self.layers.first().is_some_and(|own| field(own).is_some()) {
            let reason = format!("must be from {} to {}", range.start(), range.end());
            self.errors.push(&format!("{}{name}", self.prefix), value, reason);
        }
        default
    }

    fn number(
        &mut self,
        name: &str,
        field: impl Fn(&EngineFields) -> Option<f64>,
        default: f64,
        range: RangeInclusive<f64>,
    ) -> f64 {
        self.get(name, field, default, range)
    }

    fn count(
        &mut self,
        name: &str,
        field: impl Fn(&EngineFields) -> Option<u32>,
        default: u32,
        range: RangeInclusive<u32>,
    ) -> u32 {
        self.get(name, field, default, range)
    }

    fn models(&mut self) -> Vec<String> {
        let given = self.layers.iter().find_map(|layer| layer.model.clone());
        let models = match given {
            None => vec!["fake-model".to_owned()],
            Some(Names::One(name)) => vec![name],
            Some(Names::Several(names)) => names,
        };
        let own = self.layers.first().is_some_and(|own| own.model.is_some());
        if own && (models.is_empty() || models.iter().any(String::is_empty)) {
            let reason = "must be a name or a list of names, none of them empty";
            self.errors.push(&format!("{}model", self.prefix), format!("{models:?}"), reason);
        }
        models
    }
}

fn address(path: &str, text: Option<&str>, default_port: u16, errors: &mut ConfigErrors) -> SocketAddr {
    let default = SocketAddr::new(LOCALHOST, default_port);
    let Some(text) = text else { return default };
    text.parse().unwrap_or_else(|_| {
        let reason = "must be an ip:port, for instance 127.0.0.1:18001 or [::1]:18001";
        errors.push(path, format!("{text:?}"), reason);
        default
    })
}

fn check_name(name: &str, path: &str, errors: &mut ConfigErrors) {
    let fits = (1..=MAX_NAME_LEN).contains(&name.len());
    if !fits || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')) {
        let reason = format!("must be 1 to {MAX_NAME_LEN} letters, digits, '.', '_' or '-'");
        errors.push(path, format!("{name:?}"), reason);
    }
}

fn gpu(path: &str, place: usize, raw: Option<&raw::Gpu>, seen: &mut Seen, errors: &mut ConfigErrors) -> Gpu {
    let raw = raw.cloned().unwrap_or_default();
    let index = raw.index.or_else(|| u8::try_from(place).ok()).unwrap_or_else(|| {
        errors.push(&format!("{path}.gpu.index"), "", "must be given: a host has 256 GPUs at most");
        0
    });
    let uuid = raw.uuid.unwrap_or_else(|| format!("GPU-00000000-0000-4000-8000-{index:012}"));
    if uuid.is_empty() {
        errors.push(&format!("{path}.gpu.uuid"), "\"\"", "must not be empty");
    }
    let memory_mib = raw.memory_mib.unwrap_or(81_559);
    if !(1..=10_000_000).contains(&memory_mib) {
        errors.push(&format!("{path}.gpu.memoryMiB"), memory_mib, "must be from 1 to 10000000");
    }
    seen.once("uuid", &uuid, &format!("{path}.gpu.uuid"), errors);
    seen.once("index", &index.to_string(), &format!("{path}.gpu.index"), errors);
    Gpu { uuid, index, memory_mib }
}

/// What must not occur twice.
#[derive(Default)]
struct Seen(HashSet<(&'static str, String)>);

impl Seen {
    fn once(&mut self, kind: &'static str, value: &str, path: &str, errors: &mut ConfigErrors) {
        if !self.0.insert((kind, value.to_owned())) {
            errors.push(path, format!("{value:?}"), "is taken by another endpoint above");
        }
    }

    fn listen(&mut self, address: SocketAddr, path: &str, errors: &mut ConfigErrors) {
        if address.port() != 0 {
            self.once("listen", &address.to_string(), path, errors);
        }
    }
}
