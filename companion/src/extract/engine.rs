//! The attributes in a model server's scrape.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use headroom_datalayer::{Sample, Timestamp, Value, well_known};
use headroom_exposition::{Kind, Label};

use super::{
    Cell, Custom, EngineTable, Facts, MAX_NAMES, Range, combine,
    detect::detect,
    families::Families,
    memory::EngineMemory,
    table::{From, Row, Series},
};

/// What some engines print in the place of a name that they do not know.
const NO_NAMES: [&str; 2] = ["", "undefined"];

/// Labels of ranks that work for one scheduler, whatever the engine.
const RANKS: [&str; 3] = ["tp_rank", "pp_rank", "moe_ep_rank"];

/// How a model server's scrape is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EngineReading {
    /// The engine; `None` finds out from the scrape.
    pub(crate) table: Option<&'static EngineTable>,
    /// What the config reads beside the engine's table, and in place of it.
    pub(crate) custom: Arc<[Custom]>,
    /// Whether the names of the models are asked for elsewhere, and those in the scrape are not used.
    pub(crate) names_elsewhere: bool,
    /// Values that the config knows better than the scrape.
    pub(crate) fixed: Arc<BTreeMap<String, Value>>,
}

/// What one scrape says of one endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extraction {
    /// The attributes.
    pub(crate) facts: Facts,
    /// What was there and could not be used, and why.
    pub(crate) notes: Vec<String>,
    /// The engine that the scrape is of; `None` where it has no metric of any.
    pub(crate) engine: Option<&'static str>,
}

impl Extraction {
    /// Whether the scrape holds anything that is known.
    pub(crate) fn recognised(&self) -> bool {
        self.engine.is_some() || !self.facts.is_empty()
    }
}

/// Reads a scrape. `memory` holds what is known of the same endpoint's earlier scrapes.
pub(crate) fn extract_engine(
    reading: &EngineReading,
    families: &Families<'_>,
    memory: &mut EngineMemory,
) -> Extraction {
    let mut extraction = Extraction::default();
    let table = match reading.table {
        Some(table) => Some(table),
        None => detect(families).map(|(table, others)| {
            if !others.is_empty() {
                extraction.notes.push(format!(
                    "read as {}, but there are metrics of {} too; say which engine it is where that is wrong",
                    table.name,
                    others.join(", ")
                ));
            }
            table
        }),
    };
    let mut reader = Reader { table, families, memory, extraction };
    for row in table.map(|table| table.rows).unwrap_or_default() {
        reader.row(row);
    }
    let Reader { mut extraction, .. } = reader;
    if reading.names_elsewhere {
        extraction.facts.remove(well_known::SERVED_MODELS);
    }
    extraction.notes.extend(memory.frozen.check(&mut extraction.facts, families.sent_at));
    for custom in reading.custom.iter() {
        if let Some(sample) = custom.read(families, memory, &mut extraction.notes) {
            extraction.facts.insert(Cow::Owned(custom.attribute.to_string()), sample);
        }
    }
    if extraction.recognised() {
        overrule(&reading.fixed, &mut extraction, families.sent_at);
    }
    extraction
}

/// Puts the config's values in the place of those of the scrape.
fn overrule(fixed: &BTreeMap<String, Value>, extraction: &mut Extraction, now: Timestamp) {
    for (attribute, value) in fixed {
        let sample = Sample { value: value.clone(), measured_at: now };
        let known = extraction.facts.insert(Cow::Owned(attribute.clone()), sample);
        if let Some(known) = known.filter(|known| known.value != *value) {
            let (ours, theirs) = (show(value), show(&known.value));
            extraction.notes.push(format!("{attribute} is {ours} by the config, and {theirs} in the scrape"));
        }
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Number(number) => f64::from(*number).to_string(),
        Value::Names(names) => names.join(", "),
    }
}

struct Reader<'r, 'p> {
    table: Option<&'static EngineTable>,
    families: &'r Families<'p>,
    memory: &'r mut EngineMemory,
    extraction: Extraction,
}

impl<'p> Reader<'_, 'p> {
    fn row(&mut self, row: &'static Row) {
        if row.from.metrics().iter().all(|metric| self.series(metric).is_empty()) {
            return;
        }
        self.extraction.engine = self.table.map(|table| table.name);
        if self.extraction.facts.contains_key(row.attribute) {
            return;
        }
        let fact = match row.from {
            From::Gauge { series, range } => self.gauge(row.attribute, series, range),
            From::InfoLabel { metric, label } => self.info_label(row.attribute, metric, label),
            From::LabelNames { metrics, label } => self.label_names(metrics, label),
            From::LatestNames { metric, label } => self.latest_names(metric, label),
            From::LatestNumber { metric, label } => self.latest_number(metric, label),
            From::Ratio { hits, queries } => self.ratio(hits, queries),
            From::Rate { counter } => {
                let total = self.total(counter);
                total.and_then(|(total, at)| self.memory.rate(counter, total, at))
            }
        };
        if let Some(fact) = fact {
            self.extraction.facts.insert(Cow::Borrowed(row.attribute), fact);
        }
    }

    fn series(&self, metric: &str) -> &[&'p headroom_exposition::Sample<'p>] {
        self.families.series(self.table.map(|table| table.prefix).unwrap_or_default(), metric)
    }

    fn gauge(&mut self, attribute: &str, series: Series, range: Range) -> Option<Sample> {
        let Series { metric, matching } = series;
        let declared = self.series(metric).first().and_then(|sample| self.families.kind(sample));
        if let Some(kind @ (Kind::Counter | Kind::Histogram | Kind::Summary)) = declared {
            let kind = kind.as_str();
            self.note(format!("{metric} is declared a {kind} where a gauge is meant, and is not used"));
            return None;
        }
        let cells = self.cells(metric, matching, |sample| range.check(sample.value));
        if cells.contains(&Cell::Invalid) {
            self.note(format!("{metric} has a value that is not possible, and it is not used"));
        }
        combine(attribute, cells)
    }

    fn info_label(&mut self, attribute: &str, metric: &str, label: &str) -> Option<Sample> {
        let cells = self.cells(metric, None, |sample| sample.label(label).and_then(positive));
        let value = combine(attribute, cells);
        if value.is_none() {
            self.note(format!("{metric} has no number above zero in its label {label}"));
        }
        value
    }

    /// The label in the series whose value is the latest time. What the series says has held since then, so
    /// it is as old as the scrape.
    fn latest(&mut self, metric: &str, label: &str) -> Option<(&'p str, Timestamp)> {
        let series = self.series(metric).iter();
        let latest = series
            .filter(|sample| sample.value.is_finite() && sample.value > 0.0)
            .max_by(|a, b| a.value.total_cmp(&b.value));
        let found = latest.and_then(|latest| Some((latest.label(label)?, self.families.measured_at(latest))));
        if found.is_none() {
            self.note(format!("{metric} has no series with a time and the label {label}"));
        }
        found
    }

    fn latest_names(&mut self, metric: &str, label: &str) -> Option<Sample> {
        let (list, measured_at) = self.latest(metric, label)?;
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: BTreeSet<&str> = names.take(MAX_NAMES).collect();
        let value = Value::Names(names.into_iter().map(str::to_owned).collect());
        Some(Sample { value, measured_at })
    }

    fn latest_number(&mut self, metric: &str, label: &str) -> Option<Sample> {
        let (text, measured_at) = self.latest(metric, label)?;
        Some(Sample { value: Value::number(positive(text)?)?, measured_at })
    }

    /// One cell for each scheduler. The same series twice counts once, and of several reports of one scheduler the
    /// largest.
    fn cells(
        &self,
        metric: &str,
        matching: Option<(&str, &str)>,
        value: impl Fn(&headroom_exposition::Sample<'_>) -> Option<f64>,
    ) -> Vec<Cell> {
        let same = self.table.map(|table| table.same_scheduler).unwrap_or_default();
        let mut schedulers: BTreeMap<Vec<&Label<'_>>, Cell> = BTreeMap::new();
        for sample in self.series(metric) {
            if matching.is_some_and(|(name, wanted)| sample.label(name) != Some(wanted)) {
                continue;
            }
            let cell = match value(sample) {
                Some(value) => Cell::Value(value, self.families.measured_at(sample)),
                None => Cell::Invalid,
            };
            let key = sample
                .labels
                .iter()
                .filter(|label| !same.contains(&label.name) && !RANKS.contains(&label.name))
                .collect();
            schedulers.entry(key).and_modify(|known| *known = larger(*known, cell)).or_insert(cell);
        }
        schedulers.into_values().collect()
    }

    fn label_names(&self, metrics: &[&str], label: &str) -> Option<Sample> {
        let mut names = BTreeSet::new();
        let mut oldest = self.families.sent_at;
        for sample in metrics.iter().flat_map(|metric| self.series(metric)) {
            if let Some(name) = sample.label(label).filter(|name| !NO_NAMES.contains(name))
                && names.len() < MAX_NAMES
            {
                names.insert(name.to_owned());
                oldest = oldest.min(self.families.measured_at(sample));
            }
        }
        let names: Vec<String> = names.into_iter().collect();
        (!names.is_empty()).then_some(Sample { value: Value::Names(names), measured_at: oldest })
    }

    fn ratio(&mut self, hits: &'static str, queries: &str) -> Option<Sample> {
        let hit_sum = self.total(hits)?;
        let query_sum = self.total(queries)?;
        self.memory.hit_rate(hits, hit_sum.0, query_sum.0, hit_sum.1.min(query_sum.1))
    }

    /// The sum of a counter over its series.
    fn total(&self, metric: &str) -> Option<(f64, Timestamp)> {
        let mut total = None;
        for cell in self.cells(metric, None, |sample| Range::NotNegative.check(sample.value)) {
            let Cell::Value(value, at) = cell else { return None };
            let (sum, oldest) = total.unwrap_or((0.0, at));
            total = Some((sum + value, at.min(oldest)));
        }
        total
    }

    fn note(&mut self, note: String) {
        if !self.extraction.notes.contains(&note) {
            self.extraction.notes.push(note);
        }
    }
}

/// The report of a scheduler that counts: the larger one, and any value rather than none.
fn larger(a: Cell, b: Cell) -> Cell {
    match (a, b) {
        (Cell::Value(left, at), Cell::Value(right, then)) => Cell::Value(left.max(right), at.min(then)),
        (Cell::Invalid, value) | (value, Cell::Invalid) => value,
    }
}

fn positive(text: &str) -> Option<f64> {
    text.parse().ok().and_then(|number| Range::Positive.check(number))
}
