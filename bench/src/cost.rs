//! The same work again and again, to be counted or timed.

use std::collections::BTreeMap;
use std::hint::black_box;

use anyhow::Context as _;
use headroom_datalayer::{Endpoint, Sample, Snapshot, Value, well_known};
use headroom_filter::config::PoolSpec;
use headroom_scheduling::{Context, Detail, Explanation, Known, PrefixMatch, Request, Schedule};
use serde_json::{Value as Json, json};

use crate::config;
use crate::dice::Dice;
use crate::pool::{NOW, before};

/// The sizes of pools that are measured.
pub const SIZES: &[usize] = &[8, 64, 512, 4096];

/// The profiles that are measured, with the pool's config.
pub fn profiles() -> [(&'static str, Json); 2] {
    let full = json!({"name": "pool",
        "filters": [{"type": "model-filter"}, {"type": "health-filter"},
                    {"type": "label-selector-filter", "selector": "llm-d.ai/role in (decode,both)"},
                    {"type": "gpu-utilization-filter", "maxPercent": 95}],
        "scorers": [{"type": "prefix-cache-scorer", "weight": 3}, {"type": "queue-scorer", "weight": 2},
                    {"type": "kv-cache-utilization-scorer", "weight": 2},
                    {"type": "running-requests-size-scorer"}, {"type": "active-request-scorer"},
                    {"type": "lora-affinity-scorer"}]});
    [("default", json!({"name": "pool"})), ("full", full)]
}

/// A pool in service: everything is measured and fresh, a few requests are in flight.
#[derive(Debug)]
pub struct Work {
    spec: PoolSpec,
    snapshot: Snapshot,
    known: Known,
    request: Request,
}

impl Work {
    /// A pool of this many endpoints under the profile of this name.
    ///
    /// # Errors
    /// When there is no such profile.
    pub fn new(profile: &str, endpoints: usize) -> anyhow::Result<Self> {
        let (_, pool) =
            profiles().into_iter().find(|(name, _)| *name == profile).context("no such profile")?;
        let mut dice = Dice::new(1);
        let (mut known, mut listed, mut rows) = (Known::default(), Vec::new(), Vec::new());
        let columns = [
            well_known::WAITING_QUEUE_SIZE,
            well_known::RUNNING_REQUESTS_SIZE,
            well_known::KV_CACHE_USAGE,
            well_known::GPU_UTILIZATION,
            well_known::READY,
            well_known::SERVED_MODELS,
            well_known::ACTIVE_MODELS,
        ];
        for number in 0..endpoints {
            let address = format!("10.{}.{}.{}:8000", number >> 16, (number >> 8) & 255, number & 255);
            let labels = BTreeMap::from([("llm-d.ai/role".to_owned(), "decode".to_owned())]);
            listed.push(Endpoint { address: address.parse()?, name: format!("pod-{number}"), labels });
            let counted = |n: u64| Value::number(f64::from(u32::try_from(n).unwrap_or_default()));
            let names = |name: &str| Some(Value::Names(vec![name.to_owned()]));
            let values = [
                counted(dice.below(20)),
                counted(dice.below(200)),
                Value::number(dice.share()),
                Value::number(dice.share() * 0.9),
                counted(1),
                names("qwen"),
                names(dice.one(&["adapter-a", "adapter-b"])),
            ];
            let measured_at = before(dice.below(1_000_000));
            rows.push(values.map(|value| value.map(|value| Sample { value, measured_at })).to_vec());
            known.sent.push((0..dice.below(4)).map(|_| before(dice.below(1_000_000))).collect());
            let matched_blocks = u32::try_from(dice.below(40)).unwrap_or_default();
            known.prefix.push(Some(PrefixMatch { matched_blocks, total_blocks: 64, block_tokens: 16 }));
        }
        let columns = columns.map(str::to_owned).to_vec();
        Ok(Self {
            spec: config::compile(&pool)?,
            snapshot: Snapshot::new("pool".to_owned(), 1, NOW, listed, columns, rows),
            known,
            request: Request {
                model: Some("qwen".to_owned()),
                input_tokens: Some(1_000),
                ..Request::default()
            },
        })
    }

    fn context(&self, seed: u64) -> Context<'_> {
        let local = self.known.local();
        Context { request: &self.request, snapshot: &self.snapshot, local, peer: None, now: NOW, seed }
    }

    /// One decision.
    pub fn schedule(&self, seed: u64) -> Schedule {
        self.spec.scheduler.schedule(black_box(&self.context(seed)))
    }

    /// What an access log gets of a decision: how long the JSON is.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn explain(&self, schedule: &Schedule, seed: u64) -> anyhow::Result<usize> {
        let detail = Detail { max_endpoints: self.spec.explain.max_endpoints, grounds: false };
        let explanation = Explanation::new(schedule, &self.spec.scheduler, &self.context(seed), detail);
        Ok(serde_json::to_string(&explanation)?.len())
    }
}
