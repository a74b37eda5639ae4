//! The tables of engines as rows of the reference.

use headroom_datalayer::attribute_info;

use super::{
    ENGINES, EngineTable, Range,
    table::{From, Row, Series},
};

/// One way from a metric to an attribute.
#[derive(Clone, Debug)]
pub struct ReferenceRow {
    /// The engine or exporter.
    pub source: String,
    /// The attribute.
    pub attribute: &'static str,
    /// The metric, and which of its series or labels.
    pub metric: String,
    /// How its value becomes the attribute's.
    pub how: String,
}

/// Every engine, with the other names that configs and labels may use for it.
pub(crate) fn engines() -> Vec<(&'static str, &'static [&'static str])> {
    ENGINES.iter().map(|table| (table.name, table.aliases)).collect()
}

/// Every row of every engine, in the order in which they are tried.
pub(crate) fn engine_rows() -> Vec<ReferenceRow> {
    ENGINES.iter().flat_map(|table| table.rows.iter().map(move |row| describe(table, row))).collect()
}

fn describe(table: &EngineTable, row: &Row) -> ReferenceRow {
    let name = |metric: &str| match table.prefix {
        "" => format!("`{metric}`"),
        prefix => format!("`{prefix}{}`", metric.replace(':', "_")),
    };
    let rule = attribute_info(row.attribute)
        .map_or("latest".to_owned(), |info| format!("{:?}", info.combine).to_lowercase());
    let (metric, how) = match &row.from {
        From::Gauge { series: Series { metric, matching }, range } => {
            let label =
                matching.map(|(label, value)| format!(" with `{label}=\"{value}\"`")).unwrap_or_default();
            (format!("{}{label}", name(metric)), format!("{}; {rule} over ranks", range.words()))
        }
        From::InfoLabel { metric, label } => {
            (format!("{}, label `{label}`", name(metric)), format!("a number above 0; {rule} over ranks"))
        }
        From::LabelNames { metrics, label } => {
            let metrics: Vec<String> = metrics.iter().map(|metric| name(metric)).collect();
            (format!("label `{label}` of {}", metrics.join(", ")), "the different values".to_owned())
        }
        From::LatestNames { metric, label } => (
            format!("{}, label `{label}`", name(metric)),
            "names of the series with the latest time".to_owned(),
        ),
        From::LatestNumber { metric, label } => (
            format!("{}, label `{label}`", name(metric)),
            "that of the series with the latest time".to_owned(),
        ),
        From::Ratio { hits, queries } => (
            format!("{} ÷ {}", name(hits), name(queries)),
            "sums over ranks, of what came since the last scrape; over all time at the first".to_owned(),
        ),
        From::Rate { counter } => {
            (name(counter), "sum over ranks, what it gains in a second, over a second or more".to_owned())
        }
    };
    ReferenceRow { source: table.name.to_owned(), attribute: row.attribute, metric, how }
}

impl Range {
    /// What the metric's value is, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::NotNegative => "0 and up",
            Self::Positive => "above 0",
            Self::Fraction => "a fraction",
            Self::Percent => "a percentage",
        }
    }
}
