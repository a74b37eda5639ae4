//! From the text of a scrape to the attributes of the endpoints it is about.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use headroom_datalayer::{Sample, Timestamp, Value};
use headroom_exposition::{LineError, parse};

use super::endpoints::Named;
use crate::{
    extract::{EngineMemory, EngineTable, Facts, Families, extract_engine},
    join::{Inventory, Refresh, Unmatched},
};

/// What people call the endpoint that an engine's scrape is of when nobody says.
pub(super) const SELF: &str = "self";

/// What is derived from one scrape.
#[derive(Debug)]
pub(super) struct Derived {
    /// The scrape, as the command line names it.
    pub(super) scrape: String,
    /// What it is of: an engine's name, an exporter's, or nothing that is known.
    pub(super) kind: Option<&'static str>,
    /// How many samples it has.
    pub(super) samples: usize,
    /// The attributes of each endpoint.
    pub(super) endpoints: BTreeMap<String, Facts>,
    /// Lines that could not be read.
    pub(super) errors: Vec<LineError>,
    /// What was there and could not be used, and why.
    pub(super) notes: Vec<String>,
    /// GPUs that belong to none of the endpoints.
    pub(super) unmatched: Option<Unmatched>,
    /// When it was read.
    pub(super) now: Timestamp,
}

impl Derived {
    /// Whether anything in the scrape is known.
    pub(super) fn is_of_use(&self) -> bool {
        self.kind.is_some()
    }
}

/// Derives what the companion would from its first scrape of the target.
pub(super) fn derive(
    scrape: &str,
    text: &str,
    engine: Option<&'static EngineTable>,
    endpoints: Option<&[Named]>,
    now: Timestamp,
) -> Derived {
    let parsed = parse(text);
    let families = Families::new(&parsed, now);
    let mut derived = Derived {
        scrape: scrape.to_owned(),
        kind: None,
        samples: parsed.samples.len(),
        endpoints: BTreeMap::new(),
        errors: parsed.errors.clone(),
        notes: Vec::new(),
        unmatched: None,
        now,
    };
    let inventory = Inventory::new(&families, &mut Refresh::default(), Duration::ZERO);
    if engine.is_none() && !inventory.is_empty() {
        derived.gpus(&inventory, endpoints);
    } else {
        derived.engine(&families, engine, endpoints);
    }
    derived
}

impl Derived {
    fn gpus(&mut self, inventory: &Inventory<'_>, endpoints: Option<&[Named]>) {
        self.kind = inventory.exporter();
        self.notes.extend_from_slice(inventory.notes());
        let wanted = match endpoints {
            Some(endpoints) => {
                let gpus =
                    endpoints.iter().filter_map(|named| Some((named.name.clone(), named.gpus.clone()?)));
                gpus.collect()
            }
            None => inventory.owners(),
        };
        let mut owned = BTreeSet::new();
        for (name, selector) in wanted {
            let extraction = inventory.extract(&selector, &mut owned);
            self.notes.extend(extraction.note(&name));
            self.endpoints.insert(name, extraction.facts);
        }
        self.unmatched = Some(inventory.unmatched(&owned));
    }

    fn engine(
        &mut self,
        families: &Families<'_>,
        engine: Option<&'static EngineTable>,
        endpoints: Option<&[Named]>,
    ) {
        let named = endpoints.and_then(|endpoints| whose(endpoints, &self.scrape));
        let mut reading = named.and_then(|named| named.engine.clone()).unwrap_or_default();
        if engine.is_some() {
            reading.table = engine;
        }
        let extraction = extract_engine(&reading, families, &mut EngineMemory::default());
        self.kind = extraction.engine;
        self.notes.extend(extraction.notes);
        if extraction.engine.is_none() {
            self.notes.push("no known engine and no known GPU exporter in this scrape".to_owned());
        }
        let name = named.map_or(SELF, |named| named.name.as_str());
        self.endpoints.insert(name.to_owned(), extraction.facts);
    }
}

/// The endpoint whose engine's scrape this is: the only one there is, or the one that the file is called after.
fn whose<'n>(endpoints: &'n [Named], scrape: &str) -> Option<&'n Named> {
    let stem = Path::new(scrape).file_stem().and_then(|stem| stem.to_str());
    let mut engines = endpoints.iter().filter(|named| named.engine.is_some());
    match (engines.clone().find(|named| Some(named.name.as_str()) == stem), engines.next(), engines.next()) {
        (Some(named), ..) | (None, Some(named), None) => Some(named),
        _ => None,
    }
}

/// A value as people read it.
pub(super) fn value(sample: &Sample) -> Cow<'static, str> {
    match &sample.value {
        Value::Number(number) => Cow::Owned(f64::from(*number).to_string()),
        Value::Names(names) if names.is_empty() => Cow::Borrowed("(none)"),
        Value::Names(names) => {
            Cow::Owned(names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "))
        }
    }
}
