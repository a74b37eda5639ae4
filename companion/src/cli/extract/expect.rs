//! Files of expected values, and how what is derived compares.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

use headroom_datalayer::{Sample, Value};
use serde::Deserialize;
use serde_json::json;

use super::{
    derive::{Derived, value},
    endpoints::Named,
};
use crate::{
    cli::{Answer, UNREADABLE},
    extract::{EngineReading, EngineTable},
    join::{Card, GpuSelector, PciBusId},
};

/// Numbers that differ by less than this share of themselves are equal.
const TOLERANCE: f64 = 1e-9;

/// What must be derived from a scrape. The comments here are its reference.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Expected {
    /// Which engine must be found out; `null` for the scrape of an exporter, and for anything else that is no engine's.
    #[serde(default)]
    engine: Option<String>,
    /// What must be derived for each endpoint. The scrape of an engine has one, called `self`.
    endpoints: BTreeMap<String, ExpectedEndpoint>,
    /// The lines that must be reported, and no others.
    #[serde(default)]
    errors: Vec<ExpectedError>,
}

/// What must be derived for one endpoint.
#[derive(Clone, Debug, Deserialize)]
struct ExpectedEndpoint {
    /// Which GPUs are its own.
    #[serde(default)]
    gpu: Option<Gpu>,
    /// Attributes and their values: a number, or a list of names in any order. Others may be derived too.
    #[serde(default)]
    attributes: BTreeMap<String, ExpectedValue>,
    /// Attributes that must not be derived.
    #[serde(default)]
    missing: Vec<String>,
}

/// A line that must be reported; the reason's wording is free.
#[derive(Clone, Debug, Deserialize)]
struct ExpectedError {
    line: usize,
}

/// Which GPUs of a scrape are an endpoint's: `pod` with `namespace`, `uuid`, `pci_bus_id`, `mig`, `host` (`*`: all), or any
/// other label of the samples.
#[derive(Clone, Debug, Deserialize)]
struct Gpu {
    #[serde(default)]
    uuid: Option<Vec<String>>,
    #[serde(default)]
    pci_bus_id: Option<Vec<String>>,
    #[serde(default)]
    mig: Option<Vec<Mig>>,
    #[serde(default)]
    host: Option<String>,
    #[serde(flatten)]
    labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Mig {
    uuid: String,
    instance: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum ExpectedValue {
    Number(f64),
    Names(BTreeSet<String>),
}

/// Reads a file of expected values.
pub(super) fn read(path: &Path, text: &str) -> Result<Expected, Answer> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        Answer::failed(UNREADABLE, format!("{}: is no file of expected values: {error}", path.display()))
    })
}

impl Expected {
    /// The endpoints, their engine as the command line says.
    pub(super) fn endpoints(&self, engine: Option<&'static EngineTable>) -> Vec<Named> {
        let named = |(name, endpoint): (&String, &ExpectedEndpoint)| Named {
            name: name.clone(),
            engine: Some(EngineReading { table: engine, ..EngineReading::default() }),
            gpus: endpoint.gpu.as_ref().map(Gpu::selector),
        };
        self.endpoints.iter().map(named).collect()
    }
}

impl Gpu {
    fn selector(&self) -> GpuSelector {
        if let Some(uuids) = &self.uuid {
            return GpuSelector::Uuids(uuids.iter().map(|uuid| uuid.to_ascii_lowercase()).collect());
        }
        if let Some(ids) = &self.pci_bus_id {
            return GpuSelector::PciBusIds(ids.iter().filter_map(|id| PciBusId::parse(id)).collect());
        }
        if let Some(slices) = &self.mig {
            let slice = |mig: &Mig| Some((Card::parse(&mig.uuid), mig.instance.parse().ok()?));
            return GpuSelector::Mig(slices.iter().filter_map(slice).collect());
        }
        match self.host.as_deref() {
            Some("*") => GpuSelector::Host,
            Some(host) => GpuSelector::HostNamed(host.to_owned()),
            None => GpuSelector::Labels(self.labels.clone()),
        }
    }
}

/// One value that was expected, beside what was derived.
#[derive(Debug)]
struct Row {
    endpoint: String,
    what: String,
    expected: String,
    derived: String,
    is_equal: bool,
}

/// A scrape whose values were compared.
#[derive(Debug)]
pub(super) struct Comparison {
    scrape: String,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Comparison {
    /// Whether everything is as expected.
    pub(super) fn is_equal(&self) -> bool {
        self.rows.iter().all(|row| row.is_equal)
    }
}

/// Compares what was derived with what was expected.
pub(super) fn compare(expected: &Expected, derived: &Derived) -> Comparison {
    let mut rows = Vec::new();
    let mut row = |endpoint: &str, what: &str, expected: String, derived: String, is_equal: bool| {
        let (endpoint, what) = (endpoint.to_owned(), what.to_owned());
        rows.push(Row { endpoint, what, expected, derived, is_equal });
    };
    if let Some(engine) = &expected.engine {
        let found = derived.kind.unwrap_or("-");
        // A scrape that no engine's metrics are in may still be said to come from one.
        let is_equal = found == engine || (derived.kind.is_none() && expected.has_no_values());
        row("", "engine", engine.clone(), found.to_owned(), is_equal);
    }
    let nothing = crate::extract::Facts::new();
    for (name, endpoint) in &expected.endpoints {
        let facts = derived.endpoints.get(name).unwrap_or(&nothing);
        for (attribute, wanted) in &endpoint.attributes {
            let found = facts.get(attribute.as_str());
            let shown = found.map_or("missing".to_owned(), |sample| value(sample).into_owned());
            row(name, attribute, wanted.show(), shown, found.is_some_and(|found| wanted.is(found)));
        }
        for attribute in &endpoint.missing {
            let found = facts.get(attribute.as_str());
            let shown = found.map_or("missing".to_owned(), |sample| value(sample).into_owned());
            row(name, attribute, "missing".to_owned(), shown, found.is_none());
        }
    }
    let lines = |lines: &BTreeSet<usize>| {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        if lines.is_empty() { "none".to_owned() } else { lines.join(", ") }
    };
    let wanted: BTreeSet<usize> = expected.errors.iter().map(|error| error.line).collect();
    let found: BTreeSet<usize> = derived.errors.iter().map(|error| error.line).collect();
    row("", "broken lines", lines(&wanted), lines(&found), wanted == found);
    let errors = derived.errors.iter().map(ToString::to_string);
    let notes = errors.chain(derived.notes.iter().cloned()).collect();
    Comparison { scrape: derived.scrape.clone(), rows, notes }
}

impl Expected {
    fn has_no_values(&self) -> bool {
        self.endpoints.values().all(|endpoint| endpoint.attributes.is_empty())
    }
}

impl ExpectedValue {
    fn is(&self, sample: &Sample) -> bool {
        match (self, &sample.value) {
            (Self::Number(wanted), Value::Number(found)) => {
                let found = f64::from(*found);
                (wanted - found).abs() <= TOLERANCE * wanted.abs().max(found.abs())
            }
            (Self::Names(wanted), Value::Names(found)) => {
                wanted.len() == found.len() && found.iter().all(|name| wanted.contains(name))
            }
            _ => false,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Names(names) if names.is_empty() => "(none)".to_owned(),
            Self::Names(names) => names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "),
        }
    }
}

const HEAD: &str = "            endpoint       attribute              expected               derived\n";

/// A table of expected and derived.
pub(super) fn text(comparisons: &[Comparison]) -> String {
    let mut text = String::new();
    for comparison in comparisons {
        let _infallible = writeln!(text, "{}", comparison.scrape);
        text.push_str(HEAD);
        for Row { endpoint, what, expected, derived, is_equal } in &comparison.rows {
            let mark = if *is_equal { "ok" } else { "DIFFERENT" };
            let _infallible =
                writeln!(text, "  {mark:<9} {endpoint:<14} {what:<22} {expected:<22} {derived}");
        }
        for note in &comparison.notes {
            let _infallible = writeln!(text, "  not used: {note}");
        }
    }
    let different = comparisons.iter().filter(|comparison| !comparison.is_equal()).count();
    let values: usize = comparisons.iter().map(|comparison| comparison.rows.len()).sum();
    let _infallible =
        writeln!(text, "{} scrapes, {values} values compared, {different} scrapes differ", comparisons.len());
    text
}

/// The same as JSON.
pub(super) fn json(comparisons: &[Comparison]) -> String {
    let one = |comparison: &Comparison| {
        let row = |row: &Row| {
            json!({"endpoint": row.endpoint, "attribute": row.what, "expected": row.expected, "derived": row.derived,
                   "equal": row.is_equal})
        };
        json!({
            "scrape": comparison.scrape,
            "equal": comparison.is_equal(),
            "values": comparison.rows.iter().map(row).collect::<Vec<_>>(),
            "notes": comparison.notes,
        })
    };
    let all: Vec<serde_json::Value> = comparisons.iter().map(one).collect();
    serde_json::to_string_pretty(&json!({ "comparisons": all })).unwrap_or_default() + "\n"
}
