//! The attributes in a model server's scrape.

use std::collections::{BTreeMap, BTreeSet};

use headroom_datalayer::{Sample, Timestamp, Value};
use headroom_exposition::{Kind, Parsed};

use super::{
    Cell, ENGINES, EngineTable, Facts, HitRate, Range, combine,
    table::{From, Row},
};

/// More names than one server serves; bounds what a broken scrape can put into the feed.
const MAX_NAMES: usize = 64;

/// What one scrape says of one endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extraction {
    /// The attributes.
    pub(crate) facts: Facts,
    /// What was there and could not be used, and why.
    pub(crate) notes: Vec<String>,
    /// Whether the scrape has any metric of the table.
    pub(crate) recognised: bool,
}

/// The time of a value in a scrape that was sent at `sent_at`: the sample's own if it is older.
pub(crate) fn measured_at(sample: &headroom_exposition::Sample<'_>, sent_at: Timestamp) -> Timestamp {
    let own =
        sample.timestamp_micros.map(|micros| Timestamp::from_micros(u64::try_from(micros).unwrap_or(0)));
    own.map_or(sent_at, |own| own.min(sent_at))
}

/// How a model server's scrape is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EngineReading {
    /// The engine; `None` finds out from the scrape.
    pub(crate) table: Option<&'static EngineTable>,
}

/// Reads the scrape by the engine's table. `rates` remembers counters between scrapes of the same
/// endpoint.
pub(crate) fn extract_engine(
    reading: &EngineReading,
    parsed: &Parsed<'_>,
    sent_at: Timestamp,
    rates: &mut BTreeMap<&'static str, HitRate>,
) -> Extraction {
    let Some(table) = reading.table.or_else(|| detect(parsed)) else { return Extraction::default() };
    let mut reader = Reader { parsed, sent_at, rates, extraction: Extraction::default() };
    for row in table.rows {
        let metrics = row.from.metrics();
        let present = parsed.samples.iter().any(|sample| metrics.contains(&sample.name));
        reader.extraction.recognised |= present;
        if present && !reader.extraction.facts.contains_key(row.attribute) {
            reader.row(row);
        }
    }
    reader.extraction
}

/// The engine whose metrics are in the scrape.
fn detect(parsed: &Parsed<'_>) -> Option<&'static EngineTable> {
    ENGINES.iter().find(|table| {
        table.rows.iter().any(|row| {
            let metrics = row.from.metrics();
            parsed.samples.iter().any(|sample| metrics.contains(&sample.name))
        })
    })
}

struct Reader<'r, 'p> {
    parsed: &'r Parsed<'p>,
    sent_at: Timestamp,
    rates: &'r mut BTreeMap<&'static str, HitRate>,
    extraction: Extraction,
}

impl Reader<'_, '_> {
    fn row(&mut self, row: &'static Row) {
        let fact = match row.from {
            From::Gauge { metric, range } => self.gauge(row.attribute, metric, range),
            From::InfoLabel { metric, label } => self.info_label(row.attribute, metric, label),
            From::LabelNames { metrics, label } => self.label_names(metrics, label),
            From::LatestNames { metric, label } => self.latest_names(metric, label),
            From::LatestNumber { metric, label } => self.latest_number(metric, label),
            From::Ratio { hits, queries } => self.ratio(hits, queries),
        };
        if let Some(fact) = fact {
            self.extraction.facts.insert(row.attribute, fact);
        }
    }

    fn gauge(&mut self, attribute: &str, metric: &str, range: Range) -> Option<Sample> {
        if let Some(kind @ (Kind::Counter | Kind::Histogram | Kind::Summary)) = self.parsed.kind(metric) {
            let note = format!("{metric} is declared a {kind:?} where a gauge is meant, and is not used");
            self.extraction.notes.push(note);
            return None;
        }
        let cells = self.cells(metric, |sample| range.check(sample.value));
        if cells.contains(&Cell::Invalid) {
            self.extraction
                .notes
                .push(format!("{metric} has a value that is not possible, and it is not used"));
        }
        combine(attribute, cells)
    }

    fn info_label(&self, attribute: &str, metric: &str, label: &str) -> Option<Sample> {
        let cells = self.cells(metric, |sample| sample.label(label).and_then(positive));
        combine(attribute, cells)
    }

    /// The label in the series whose value is the latest time. What the series says has held since then, so
    /// it is as old as the scrape.
    fn latest(&self, metric: &str, label: &str) -> Option<(&str, Timestamp)> {
        let series = self.parsed.samples.iter().filter(|sample| sample.name == metric);
        let latest = series
            .filter(|sample| sample.value.is_finite() && sample.value > 0.0)
            .max_by(|a, b| a.value.total_cmp(&b.value))?;
        Some((latest.label(label)?, measured_at(latest, self.sent_at)))
    }

    fn latest_names(&self, metric: &str, label: &str) -> Option<Sample> {
        let (list, measured_at) = self.latest(metric, label)?;
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: BTreeSet<&str> = names.take(MAX_NAMES).collect();
        let value = Value::Names(names.into_iter().map(str::to_owned).collect());
        Some(Sample { value, measured_at })
    }

    fn latest_number(&self, metric: &str, label: &str) -> Option<Sample> {
        let (text, measured_at) = self.latest(metric, label)?;
        Some(Sample { value: Value::number(positive(text)?)?, measured_at })
    }

    /// One cell for each series, the same series twice counting once.
    fn cells(
        &self,
        metric: &str,
        value: impl Fn(&headroom_exposition::Sample<'_>) -> Option<f64>,
    ) -> Vec<Cell> {
        let mut seen = BTreeSet::new();
        let series = self.parsed.samples.iter().filter(|sample| sample.name == metric);
        series
            .filter(|sample| seen.insert(&sample.labels))
            .map(|sample| match value(sample) {
                Some(value) => Cell::Value(value, measured_at(sample, self.sent_at)),
                None => Cell::Invalid,
            })
            .collect()
    }

    fn label_names(&self, metrics: &[&str], label: &str) -> Option<Sample> {
        let mut names = BTreeSet::new();
        let mut oldest = self.sent_at;
        for sample in self.parsed.samples.iter().filter(|sample| metrics.contains(&sample.name)) {
            if let Some(name) = sample.label(label).filter(|name| !name.is_empty())
                && names.len() < MAX_NAMES
            {
                names.insert(name.to_owned());
                oldest = oldest.min(measured_at(sample, self.sent_at));
            }
        }
        let value = Value::Names(names.into_iter().collect());
        value
            .as_names()
            .is_some_and(|names| !names.is_empty())
            .then_some(Sample { value, measured_at: oldest })
    }

    fn ratio(&mut self, hits: &'static str, queries: &str) -> Option<Sample> {
        let hit_sum = self.total(hits)?;
        let query_sum = self.total(queries)?;
        self.rates.entry(hits).or_default().update(hit_sum.0, query_sum.0, hit_sum.1.min(query_sum.1))
    }

    /// The sum of a counter over its series.
    fn total(&self, metric: &str) -> Option<(f64, Timestamp)> {
        let cells = self.cells(metric, |sample| Range::NotNegative.check(sample.value));
        let mut total = None;
        for cell in cells {
            let Cell::Value(value, at) = cell else { return None };
            let (sum, oldest) = total.unwrap_or((0.0, at));
            total = Some((sum + value, at.min(oldest)));
        }
        total
    }
}

fn positive(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
}
