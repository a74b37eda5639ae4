//! The state of a pool as `headroom explain` reads it.

use std::collections::BTreeMap;

use headroom_datalayer::{
    Address, AttributeRef, Endpoint, Sample, Snapshot, SpanText, Timestamp, Value, attribute_info,
};
use headroom_scheduling::Known;
use serde::Deserialize;

use super::local::{FailingState, Prefix, no_age};
use crate::cli::finding::Finding;

/// What is known of a pool. Times are ages, written `200ms` or `5s`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct State {
    /// The pool. Default: the config's only one.
    #[serde(default)]
    pub(super) pool: Option<String>,
    /// Shown, never compared. Default 0.
    #[serde(default)]
    version: u64,
    /// How long ago the last update came. Default `0s`.
    #[serde(default = "no_age")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    age: SpanText,
    /// The endpoints.
    endpoints: Vec<EndpointState>,
    /// Session id → the address that it is pinned to. Default: none.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, String>"))]
    sessions: BTreeMap<String, Address>,
    /// The key of session tokens, where the plugin has no `signingKey`. Default: none, so no token is valid.
    #[serde(default)]
    session_token_key: Option<String>,
}

/// What is known of an endpoint.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EndpointState {
    /// `ip:port`, unique.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
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
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    in_flight: Vec<SpanText>,
    /// Prompt tokens of those requests that the endpoint has to compute. Default: not counted.
    #[serde(default)]
    in_flight_tokens: Option<u64>,
    /// How much of the request's prompt the endpoint's prefix cache holds. Default: not known.
    #[serde(default)]
    prefix: Option<Prefix>,
    /// The requests that failed in a row, if the last one did.
    #[serde(default)]
    failing: Option<FailingState>,
    /// How long ago it was last chosen for a request without a cached prefix. Default: never.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    last_cold_pick: Option<SpanText>,
}

/// A measured value.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Attribute {
    /// A number in the attribute's unit, or a list of names.
    value: Measured,
    /// How long ago it was measured. Default `0s`.
    #[serde(default = "no_age")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    age: SpanText,
}

/// A number, or a list of strings.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "must be a number or a list of names")]
enum Measured {
    Number(f64),
    Names(Vec<String>),
}

impl State {
    /// As the scheduler takes it.
    ///
    /// # Errors
    /// Everything that cannot be.
    pub(super) fn compile(self, pool: &str, now: Timestamp) -> Result<(Snapshot, Known), Vec<Finding>> {
        let before =
            |age: SpanText| Timestamp::from_micros(now.as_micros().saturating_sub(age.0.as_micros()));
        let (mut faults, mut columns) = (Vec::new(), Vec::<String>::new());
        let (mut endpoints, mut rows) = (Vec::<Endpoint>::new(), Vec::new());
        let mut known = Known {
            sessions: self.sessions.into_iter().map(|(id, address)| (id, address.to_string())).collect(),
            token_key: self.session_token_key.map(String::into_bytes),
            ..Known::default()
        };
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
            known.sent.push(state.in_flight.into_iter().map(before).collect());
            known.tokens.push(state.in_flight_tokens);
            known.prefix.push(state.prefix.map(|prefix| prefix.compile(&path, &mut faults)));
            known.failing.push(state.failing.map(|failing| failing.compile(&path, &mut faults)));
            known.cold_picks.push(state.last_cold_pick.map(before));
            let name = state.name.unwrap_or_else(|| state.address.to_string());
            endpoints.push(Endpoint { address: state.address, name, labels: state.labels });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let updated_at = before(self.age);
        let snapshot = Snapshot::new(pool.to_owned(), self.version, updated_at, endpoints, columns, rows);
        Ok((snapshot, known))
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
    use headroom_datalayer::Span;
    use headroom_scheduling::{ColdPicks, Failing, Failures, InflightLoad, PrefixMatches, Sessions};

    use super::*;

    fn compile(json: &str) -> Result<(Snapshot, Known), String> {
        let state: State = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let words =
            |faults: Vec<Finding>| faults.iter().map(|fault| format!("{fault}\n")).collect::<String>();
        state.compile("p", Timestamp::from_millis(60_000)).map_err(words)
    }

    #[test]
    fn ages_become_times_and_aliases_attributes() {
        let json = r#"{"sessions": {"a": "10.0.0.1:80"}, "endpoints": [{"address": "10.0.0.1:80",
            "inFlight": ["1s", "5s"], "inFlightTokens": 900, "prefix": {"matchedBlocks": 2, "totalBlocks": 8},
            "failing": {"failures": 3, "ago": "4s"}, "lastColdPick": "2s", "attributes": {
            "custom.gpu_utilization_percent": {"value": 50, "age": "10s"}, "ActiveModels": {"value": ["a"]}}}]}"#;
        let (snapshot, known) = compile(json).expect("valid");
        let sample =
            snapshot.sample(0, snapshot.column("GPUUtilization").expect("a column")).expect("a value");
        assert_eq!(sample.value.as_number(), Some(0.5));
        assert_eq!(sample.measured_at, Timestamp::from_millis(50_000));
        let second = |second: u64| Timestamp::from_millis(second * 1000);
        assert_eq!(
            (known.requests(0), known.requests_since(0, second(58)), known.tokens(0)),
            (2, 1, Some(900))
        );
        assert_eq!(known.matched(0).map(|matched| matched.tokens()), Some(32));
        assert_eq!(known.failing(0, second(60)), Some(Failing { failures: 3, ago: Span::from_secs(4) }));
        assert_eq!(known.last(0), Some(second(58)));
        assert_eq!(known.pinned("a", second(60)).as_deref(), Some("10.0.0.1:80"));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let json = r#"{"endpoints": [
            {"address": "10.0.0.1:80", "attributes": {"KVCacheUsagePercent": {"value": 70}, "ActiveModels": {"value": 1}}},
            {"address": "10.0.0.1:80", "prefix": {"matchedBlocks": 9, "totalBlocks": 8, "blockTokens": 0},
             "failing": {"failures": 0}, "attributes": {"WaitingQueueSize": {"value": ["x"]},
             "custom.queue_depth": {"value": 1}}}]}"#;
        let faults = compile(json).expect_err("faults");
        for part in [
            "is no fraction",
            "a list of names",
            "has this address",
            "a number, in requests",
            "another name",
            "endpoints[1].prefix.matchedBlocks: 9",
            "endpoints[1].prefix.blockTokens: 0",
            "endpoints[1].failing.failures: 0",
        ] {
            assert!(faults.contains(part), "{part}\n{faults}");
        }
        assert!(compile(r#"{"endpoints": [], "pods": 1}"#).expect_err("unknown").contains("pods"));
    }
}
