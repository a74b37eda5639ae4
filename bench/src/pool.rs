//! Random endpoints with labels and attributes, good and bad.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use headroom_datalayer::{ATTRIBUTES, AttributeRef, Combine, Endpoint, Sample, Snapshot, Timestamp, Value};

use crate::dice::Dice;

/// The time of every decision.
pub const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

/// Names of models and adapters.
pub const MODELS: &[&str] = &["qwen", "llama", "mistral", "adapter-a", "adapter-b", "adapter-c"];

/// An attribute that is in no table.
pub const CUSTOM: &str = "custom.temperature";

/// Labels that plugins read by default, with values that do and do not make sense.
pub const LABELS: &[(&str, &[&str])] = &[
    (
        "llm-d.ai/role",
        &["decode", "prefill", "encode", "both", "prefill-decode", "encode-prefill-decode", "?"],
    ),
    ("llm-d.ai/model-family", &["qwen", "llama"]),
    ("llm-d.ai/context-length-range", &["0-1024", "1024-8192", "0-200000", "8192-0", "short", ""]),
    ("kubernetes.io/hostname", &["node-1", "node-2", "node-3"]),
    ("topology.kubernetes.io/rack", &["rack-1", "rack-2"]),
    ("topology.kubernetes.io/zone", &["zone-1", "zone-2"]),
    ("topology.kubernetes.io/region", &["region-1", "region-2"]),
];

/// A pool of at most 64 endpoints, in no particular order; seldom an empty one.
///
/// # Errors
/// When an address is none.
pub fn random(dice: &mut Dice) -> anyhow::Result<Snapshot> {
    let size = if dice.chance(0.01) { 0 } else { 1 + dice.below(64) };
    let mut addresses = BTreeSet::new();
    let mut endpoints = Vec::new();
    for number in 0..size {
        let (low, port) = (dice.below(250), 8000 + dice.below(4));
        let address =
            if dice.chance(0.1) { format!("[fd00::{low:x}]:{port}") } else { format!("10.0.0.{low}:{port}") };
        if addresses.insert(address.clone()) {
            let address = address.parse().context("an address")?;
            endpoints.push(Endpoint { address, name: format!("pod-{number}"), labels: labels(dice) });
        }
    }
    let mut columns: Vec<String> =
        ATTRIBUTES.iter().map(|info| info.name.to_owned()).filter(|_| dice.chance(0.9)).collect();
    columns.push(CUSTOM.to_owned());
    // Where everything is measured, plugins act on values more often than on their absence.
    let absent = dice.one(&[0.0, 0.05, 0.3, 0.9]);
    let fresh = dice.one(&[1.0, 0.95, 0.6, 0.1]);
    let rows = endpoints
        .iter()
        .map(|_| columns.iter().map(|column| sample(dice, column, absent, fresh)).collect())
        .collect();
    let updated_at = before(dice.below(3_000_000));
    Ok(Snapshot::new("pool".to_owned(), dice.bits(), updated_at, endpoints, columns, rows))
}

fn labels(dice: &mut Dice) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (key, values) in LABELS {
        if dice.chance(0.7) {
            labels.insert((*key).to_owned(), dice.one(values).to_owned());
        }
    }
    labels
}

/// A fresh value as a source in good health reports it.
pub fn good(dice: &mut Dice, column: &str) -> Option<Sample> {
    let sample = sample(dice, column, 0.0, 1.0)?;
    let possible = AttributeRef::resolve(column).possible();
    let believable = sample.value.as_number().is_none_or(|number| possible.contains(&number));
    believable.then(|| Sample { measured_at: before(dice.below(500_000)), ..sample })
}

fn sample(dice: &mut Dice, column: &str, absent: f64, fresh: f64) -> Option<Sample> {
    if dice.chance(absent) {
        return None;
    }
    let info = ATTRIBUTES.iter().find(|info| info.name == column);
    let names = info.is_some_and(|info| info.combine == Combine::Union || column.ends_with("gModels"))
        || column == "ActiveModels";
    // Now and then a value is of the wrong kind.
    let value = if names != dice.chance(0.02) {
        let count = dice.index(4);
        Some(Value::Names(dice.some(MODELS, count).into_iter().map(str::to_owned).collect()))
    } else {
        let fraction = info.is_some_and(|info| info.unit == "fraction");
        Value::number(number(dice, fraction, column == "Ready"))
    };
    let measured_at = if dice.chance(fresh) { before(dice.below(2_000_000)) } else { odd_time(dice) };
    value.map(|value| Sample { value, measured_at })
}

/// Mostly a value as sources report it; seldom what a broken one does. What is not finite becomes missing.
fn number(dice: &mut Dice, fraction: bool, flag: bool) -> f64 {
    if dice.chance(0.05) {
        let odd = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -0.0,
            -1.0,
            1e18,
            f64::from_bits(dice.bits()),
        ];
        return dice.one(&odd);
    }
    if flag {
        return if dice.chance(0.9) { 1.0 } else { 0.0 };
    }
    if fraction {
        return dice.share();
    }
    let whole = dice.below(dice.clone().one(&[4, 64, 200_000]));
    // Far below 2^53.
    let whole = f64::from(u32::try_from(whole).unwrap_or(u32::MAX));
    if dice.chance(0.3) { whole + dice.share() } else { whole }
}

/// Stale, or dated ahead of now, by a little or a lot.
fn odd_time(dice: &mut Dice) -> Timestamp {
    match dice.below(4) {
        0 => before(dice.below(700_000_000)),
        1 => before(dice.below(20_000_000)),
        2 => Timestamp::from_micros(NOW.as_micros() + dice.below(2_000_000)),
        _ => Timestamp::from_micros(dice.bits()),
    }
}

/// So many microseconds before now.
pub(crate) fn before(micros: u64) -> Timestamp {
    Timestamp::from_micros(NOW.as_micros().saturating_sub(micros))
}
