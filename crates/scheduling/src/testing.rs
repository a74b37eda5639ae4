//! What the tests of this crate share.

use std::collections::BTreeMap;

use headroom_datalayer::{Endpoint, Sample, Snapshot, Timestamp, Value};

use crate::{BuildContext, Context, InflightLoad, Plugin, Request};

/// The time of every test decision.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// A pool of endpoints `10.0.0.1:8000`, … with one attribute; a value is measured `age_ms` ago.
pub(crate) fn pool(attribute: &str, values: &[Option<(f64, u64)>]) -> Snapshot {
    let endpoints = (1..=values.len()).map(|n| endpoint(n, &[])).collect();
    let rows =
        values.iter().map(|value| vec![value.and_then(|(number, age_ms)| sample(number, age_ms))]).collect();
    Snapshot::new("test".into(), 1, NOW, endpoints, vec![attribute.into()], rows)
}

pub(crate) fn endpoint(n: usize, labels: &[(&str, &str)]) -> Endpoint {
    Endpoint {
        address: format!("10.0.{}.{}:8000", n / 256, n % 256).parse().expect("valid"),
        name: format!("pod-{n}"),
        labels: labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>(),
    }
}

pub(crate) fn sample(number: f64, age_ms: u64) -> Option<Sample> {
    let measured_at = Timestamp::from_micros(NOW.as_micros().saturating_sub(age_ms * 1_000));
    Value::number(number).map(|value| Sample { value, measured_at })
}

/// Requests in flight by endpoint, each with the time it was sent.
#[derive(Debug, Default)]
pub(crate) struct Sent(pub(crate) Vec<Vec<Timestamp>>);

impl InflightLoad for Sent {
    fn requests(&self, endpoint: usize) -> u32 {
        self.requests_since(endpoint, Timestamp::default())
    }

    fn requests_since(&self, endpoint: usize, since: Timestamp) -> u32 {
        let sent = self.0.get(endpoint).map(Vec::as_slice).unwrap_or_default();
        u32::try_from(sent.iter().filter(|at| **at >= since).count()).expect("few")
    }
}

/// Runs `f` with a context for `snapshot` and `load`.
pub(crate) fn with<T>(snapshot: &Snapshot, load: &dyn InflightLoad, f: impl FnOnce(&Context<'_>) -> T) -> T {
    let request = Request::default();
    f(&Context { request: &request, snapshot, load, now: NOW })
}

/// Makes a plugin from JSON parameters.
pub(crate) fn build<P: Plugin>(parameters: serde_json::Value) -> P {
    try_build(parameters).expect("valid parameters")
}

pub(crate) fn try_build<P: Plugin>(parameters: serde_json::Value) -> Result<P, String> {
    let params = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
    let max_age = BTreeMap::new();
    P::build(params, &BuildContext { max_age: &max_age }).map_err(|invalid| format!("{invalid:?}"))
}
