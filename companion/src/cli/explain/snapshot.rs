//! The state of a pool as `headroom explain` reads it.

use std::collections::BTreeMap;

use headroom_datalayer::{
    Address, AttributeRef, Endpoint, Sample, Snapshot, Span, SpanText, Timestamp, Value, attribute_info,
};
use headroom_scheduling::InflightLoad;
use serde::Deserialize;

use crate::cli::finding::Finding;

/// What is known of a pool. Times are ages, written `200ms` or `5s`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct State {
    /// The pool. Default: the config's only one.
    #[serde(default)]
    pub(super) pool: Option<String>,
    /// Shown, never compared. Default 0.
    #[serde(default)]
    version: u64,
    /// How long ago the last update came. Default `0s`.
    #[serde(default = "now")]
    age: SpanText,
    /// The endpoints.
    endpoints: Vec<EndpointState>,
}

/// What is known of an endpoint.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EndpointState {
    /// `ip:port`, unique.
    address: Address,
    /// What people call it. Default: the address.
    #[serde(default)]
    name: Option<String>,
    /// Static facts.
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// By name: docs/attributes.md has the units. The `custom.…` spellings that configs may use for a
    /// well-known attribute are understood, in their unit.
    #[serde(default)]
    attributes: BTreeMap<String, Attribute>,
    /// For each request that this proxy has there, how long ago it was sent.
    #[serde(default)]
    in_flight: Vec<SpanText>,
}

/// A measured value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attribute {
    /// A number in the attribute's unit, or a list of names.
    value: Measured,
    /// How long ago it was measured. Default `0s`.
    #[serde(default = "now")]
    age: SpanText,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be a number or a list of names")]
enum Measured {
    Number(f64),
    Names(Vec<String>),
}

const fn now() -> SpanText {
    SpanText(Span::ZERO)
}

/// When this proxy's requests were sent, by endpoint.
#[derive(Debug)]
pub(super) struct Sent(Vec<Vec<Timestamp>>);

impl InflightLoad for Sent {
    fn requests(&self, endpoint: usize) -> u32 {
        self.requests_since(endpoint, Timestamp::default())
    }

    fn requests_since(&self, endpoint: usize, since: Timestamp) -> u32 {
        let sent = self.0.get(endpoint).into_iter().flatten().filter(|sent| **sent >= since).count();
        u32::try_from(sent).unwrap_or(u32::MAX)
    }
}

impl State {
    /// As the scheduler takes it.
    ///
    /// # Errors
    /// Everything that cannot be.
    pub(super) fn compile(self, pool: &str, now: Timestamp) -> Result<(Snapshot, Sent), Vec<Finding>> {
        let before =
            |age: SpanText| Timestamp::from_micros(now.as_micros().saturating_sub(age.0.as_micros()));
        let (mut faults, mut columns) = (Vec::new(), Vec::<String>::new());
        let (mut endpoints, mut rows, mut sent) = (Vec::<Endpoint>::new(), Vec::new(), Vec::new());
        for (index, state) in self.endpoints.into_iter().enumerate() {
            let path = format!("endpoints[{index}]");
            if endpoints.iter().any(|endpoint| endpoint.address == state.address) {
                let reason = "an earlier endpoint has this address, too";
                faults.push(Finding::error(format!("{path}.address"), &state.address, reason));
            }
            let mut row: Vec<Option<Sample>> = vec![None; columns.len()];
            let mut given: Vec<usize> = Vec::new();
            for (name, attribute) in state.attributes {
                let path = format!("{path}.attributes.{name}");
                let resolved = AttributeRef::resolve(&name);
                let measured_at = before(attribute.age);
                let value = value(attribute.value, &resolved, &path, &mut faults);
                let column = columns.iter().position(|column| *column == resolved.key).unwrap_or_else(|| {
                    columns.push(resolved.key.clone());
                    columns.len() - 1
                });
                row.resize(columns.len(), None);
                if given.contains(&column) {
                    let reason = format!("is {}, which is given under another name, too", resolved.key);
                    faults.push(Finding::error(&path, "", reason));
                }
                given.push(column);
                if let Some(entry) = row.get_mut(column) {
                    *entry = value.map(|value| Sample { value, measured_at });
                }
            }
            rows.push(row);
            sent.push(state.in_flight.into_iter().map(before).collect());
            let name = state.name.unwrap_or_else(|| state.address.to_string());
            endpoints.push(Endpoint { address: state.address, name, labels: state.labels });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let updated_at = before(self.age);
        let snapshot = Snapshot::new(pool.to_owned(), self.version, updated_at, endpoints, columns, rows);
        Ok((snapshot, Sent(sent)))
    }
}

fn value(
    measured: Measured,
    attribute: &AttributeRef,
    path: &str,
    faults: &mut Vec<Finding>,
) -> Option<Value> {
    let unit = attribute_info(&attribute.key).map_or("", |info| info.unit);
    let mut wrong = |value: String, reason: &str| {
        faults.push(Finding::error(format!("{path}.value"), value, reason));
        None
    };
    match measured {
        Measured::Names(names) if unit.is_empty() || unit == "names" => Some(Value::Names(names)),
        Measured::Names(names) => wrong(format!("{names:?}"), &format!("must be a number, in {unit}")),
        Measured::Number(number) if unit == "names" => wrong(number.to_string(), "must be a list of names"),
        Measured::Number(number) => {
            let stored = number / attribute.scale;
            if unit == "fraction" && !(0.0..=1.0).contains(&stored) {
                return wrong(number.to_string(), "is no fraction from 0 to 1; percents are divided by 100");
            }
            Value::number(stored)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(json: &str) -> Result<(Snapshot, Sent), String> {
        let state: State = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let words =
            |faults: Vec<Finding>| faults.iter().map(|fault| format!("{fault}\n")).collect::<String>();
        state.compile("p", Timestamp::from_millis(60_000)).map_err(words)
    }

    #[test]
    fn ages_become_times_and_aliases_attributes() {
        let json = r#"{"endpoints": [{"address": "10.0.0.1:80", "inFlight": ["1s", "5s"], "attributes": {
            "custom.gpu_utilization_percent": {"value": 50, "age": "10s"}, "ActiveModels": {"value": ["a"]}}}]}"#;
        let (snapshot, sent) = compile(json).expect("valid");
        let sample =
            snapshot.sample(0, snapshot.column("GPUUtilization").expect("a column")).expect("a value");
        assert_eq!(sample.value.as_number(), Some(0.5));
        assert_eq!(sample.measured_at, Timestamp::from_millis(50_000));
        assert_eq!((sent.requests(0), sent.requests_since(0, Timestamp::from_millis(58_000))), (2, 1));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let json = r#"{"endpoints": [
            {"address": "10.0.0.1:80", "attributes": {"KVCacheUsagePercent": {"value": 70}, "ActiveModels": {"value": 1}}},
            {"address": "10.0.0.1:80", "attributes": {"WaitingQueueSize": {"value": ["x"]},
             "custom.queue_depth": {"value": 1}}}]}"#;
        let faults = compile(json).expect_err("faults");
        for part in
            ["is no fraction", "a list of names", "has this address", "a number, in requests", "another name"]
        {
            assert!(faults.contains(part), "{part}\n{faults}");
        }
        assert!(compile(r#"{"endpoints": [], "pods": 1}"#).expect_err("unknown").contains("pods"));
    }
}
