//! What the tests of this crate share.

use std::collections::BTreeMap;

use headroom_datalayer::{Endpoint, Sample, Snapshot, Timestamp, Value};

use crate::{BuildContext, Context, Plugin, PrefixMatch, Request};

pub(crate) use crate::Known;

/// The time of every test decision.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// A pool of endpoints `10.0.0.1:8000`, … with one attribute; a value is measured `age_ms` ago.
pub(crate) fn pool(attribute: &str, values: &[Option<(f64, u64)>]) -> Snapshot {
    let endpoints = (1..=values.len()).map(|n| endpoint(n, &[])).collect();
    let rows =
        values.iter().map(|value| vec![value.and_then(|(number, age_ms)| sample(number, age_ms))]).collect();
    Snapshot::new("test".into(), 1, NOW, endpoints, vec![attribute.into()], rows)
}

/// A pool of endpoints with labels and without attributes.
pub(crate) fn labeled(labels: &[&[(&str, &str)]]) -> Snapshot {
    let endpoints: Vec<Endpoint> =
        labels.iter().enumerate().map(|(index, labels)| endpoint(index + 1, labels)).collect();
    let rows = vec![Vec::new(); endpoints.len()];
    Snapshot::new("test".into(), 1, NOW, endpoints, Vec::new(), rows)
}

/// A pool with attributes in the order of `columns`, all fresh.
pub(crate) fn table(columns: &[&str], rows: Vec<Vec<Option<Value>>>) -> Snapshot {
    let endpoints = (1..=rows.len()).map(|n| endpoint(n, &[])).collect();
    let fresh = |value: Value| Sample { value, measured_at: NOW };
    let rows = rows.into_iter().map(|row| row.into_iter().map(|value| value.map(fresh)).collect()).collect();
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    Snapshot::new("test".into(), 1, NOW, endpoints, columns, rows)
}

pub(crate) fn names(names: &[&str]) -> Option<Value> {
    Some(Value::Names(names.iter().map(|name| (*name).to_owned()).collect()))
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

impl Known {
    /// This many requests in flight on each endpoint, sent at [`NOW`].
    pub(crate) fn sent(counts: &[usize]) -> Self {
        Self { sent: counts.iter().map(|n| vec![NOW; *n]).collect(), ..Self::default() }
    }

    /// This many of the prompt's blocks cached on each endpoint; `None` where nothing is known.
    pub(crate) fn cached(matched: &[Option<u32>], total_blocks: u32, block_tokens: u32) -> Self {
        let of = |matched_blocks| PrefixMatch { matched_blocks, total_blocks, block_tokens };
        Self { prefix: matched.iter().map(|matched| matched.map(of)).collect(), ..Self::default() }
    }
}

/// A context for `snapshot`, with nothing in it that was not asked for.
pub(crate) fn context<'a>(request: &'a Request, snapshot: &'a Snapshot, known: &'a Known) -> Context<'a> {
    Context { request, snapshot, local: known.local(), peer: None, now: NOW, seed: 1 }
}

/// Runs `f` with a context for `snapshot` and an empty request.
pub(crate) fn with<T>(snapshot: &Snapshot, known: &Known, f: impl FnOnce(&Context<'_>) -> T) -> T {
    f(&context(&Request::default(), snapshot, known))
}

/// A request with one header.
pub(crate) fn request_with(header: &str, value: &str) -> Request {
    Request { headers: BTreeMap::from([(header.to_owned(), value.to_owned())]), ..Request::default() }
}

/// Makes a plugin from JSON parameters.
pub(crate) fn build<P: Plugin>(parameters: serde_json::Value) -> P {
    try_build(parameters).expect("valid parameters")
}

pub(crate) fn try_build<P: Plugin>(parameters: serde_json::Value) -> Result<P, String> {
    try_build_among(parameters, &[])
}

/// Makes a plugin of a pool with these profiles.
pub(crate) fn try_build_among<P: Plugin>(
    parameters: serde_json::Value,
    profiles: &[&str],
) -> Result<P, String> {
    let params = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
    let (max_age, mut deciders) = (BTreeMap::new(), BTreeMap::new());
    let profiles: Vec<String> = profiles.iter().map(|name| (*name).to_owned()).collect();
    let cx = BuildContext { max_age: &max_age, profiles: &profiles, deciders: &deciders.clone() };
    let decider = |tokens: u64| -> std::rc::Rc<dyn crate::Decider> {
        let params = serde_json::from_value(serde_json::json!({"nonCachedTokens": tokens})).expect("valid");
        std::rc::Rc::new(crate::deciders::PrefixBasedPdDecider::build(params, &cx).expect("valid"))
    };
    deciders.insert("from-five-tokens".to_owned(), decider(5));
    let multimodal: std::rc::Rc<dyn crate::Decider> =
        std::rc::Rc::new(crate::deciders::AlwaysDisaggMultimodalDecider);
    deciders.insert("multimodal".to_owned(), multimodal);
    P::build(params, &BuildContext { deciders: &deciders, ..cx }).map_err(|invalid| format!("{invalid:?}"))
}
