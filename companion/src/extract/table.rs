//! The form of an engine's table.

/// What one model server calls its metrics.
#[derive(Debug, PartialEq)]
pub(crate) struct EngineTable {
    /// The name in configs.
    pub(crate) name: &'static str,
    /// Other names that configs and labels may use, llm-d's among them.
    pub(crate) aliases: &'static [&'static str],
    /// What stands before each name of the rows in the scrape.
    pub(crate) prefix: &'static str,
    /// Labels that tell apart several reports of one and the same scheduler, beside those of tensor- and
    /// pipeline-parallel ranks. Series that differ in nothing else are one, and the largest of them counts; all others
    /// are ranks or replicas with work of their own.
    pub(crate) same_scheduler: &'static [&'static str],
    /// Metric to attribute. Where several rows give the same attribute, the first one that yields a
    /// value counts: newer names stand before older ones.
    pub(crate) rows: &'static [Row],
}

/// How one attribute is found.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    /// The attribute.
    pub(crate) attribute: &'static str,
    /// Where its value is.
    pub(crate) from: From,
}

/// Some of a metric's series. A name with colons is found with underscores as well: some of those who hand metrics
/// on know no colons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Series {
    /// The metric.
    pub(crate) metric: &'static str,
    /// A label that they must have with this value.
    pub(crate) matching: Option<(&'static str, &'static str)>,
}

/// Where a value is.
#[derive(Debug, PartialEq)]
pub(crate) enum From {
    /// The value of a gauge.
    Gauge {
        /// The gauge.
        series: Series,
        /// Which values are possible.
        range: Range,
    },
    /// A number in a label of an info metric, above zero.
    InfoLabel {
        /// The metric.
        metric: &'static str,
        /// The label.
        label: &'static str,
    },
    /// The distinct values of a label over several metrics.
    LabelNames {
        /// The metrics.
        metrics: &'static [&'static str],
        /// The label.
        label: &'static str,
    },
    /// A comma-separated list in a label of the latest of several series, whose values are Unix times: each
    /// change adds a series, and the old ones stay exposed. An empty list is a value.
    LatestNames {
        /// The metric.
        metric: &'static str,
        /// The label.
        label: &'static str,
    },
    /// A number, above zero, in a label of the latest series, as above.
    LatestNumber {
        /// The metric.
        metric: &'static str,
        /// The label.
        label: &'static str,
    },
    /// One counter over another since the last scrape.
    Ratio {
        /// The counter above.
        hits: &'static str,
        /// The counter below.
        queries: &'static str,
    },
    /// What a counter gains in a second.
    Rate {
        /// The counter.
        counter: &'static str,
    },
}

impl From {
    /// The metrics that this reads.
    pub(crate) fn metrics(&self) -> Vec<&'static str> {
        match self {
            Self::Gauge { series: Series { metric, .. }, .. }
            | Self::InfoLabel { metric, .. }
            | Self::LatestNames { metric, .. }
            | Self::LatestNumber { metric, .. }
            | Self::Rate { counter: metric } => vec![metric],
            Self::LabelNames { metrics, .. } => metrics.to_vec(),
            Self::Ratio { hits, queries } => vec![hits, queries],
        }
    }
}

/// A row whose value is a gauge's.
pub(super) const fn gauge(attribute: &'static str, metric: &'static str, range: Range) -> Row {
    Row { attribute, from: From::Gauge { series: Series { metric, matching: None }, range } }
}

/// A row whose value is that of the series of a gauge that have a label.
pub(super) const fn labelled(
    attribute: &'static str,
    metric: &'static str,
    label: (&'static str, &'static str),
    range: Range,
) -> Row {
    Row { attribute, from: From::Gauge { series: Series { metric, matching: Some(label) }, range } }
}

/// A row whose value is a number in a label.
pub(super) const fn info(attribute: &'static str, metric: &'static str, label: &'static str) -> Row {
    Row { attribute, from: From::InfoLabel { metric, label } }
}

/// A row whose value is one counter over another.
pub(super) const fn ratio(attribute: &'static str, hits: &'static str, queries: &'static str) -> Row {
    Row { attribute, from: From::Ratio { hits, queries } }
}

/// A row whose value is what a counter gains in a second.
pub(super) const fn rate(attribute: &'static str, counter: &'static str) -> Row {
    Row { attribute, from: From::Rate { counter } }
}

/// A row whose value is the distinct values of a label.
pub(super) const fn names(
    attribute: &'static str,
    metrics: &'static [&'static str],
    label: &'static str,
) -> Row {
    Row { attribute, from: From::LabelNames { metrics, label } }
}

/// Which values a metric can have. What lies outside was not measured: it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// Zero and up.
    NotNegative,
    /// Above zero.
    Positive,
    /// 0 to 1. Up to a hundredth above is rounding and counts as 1.
    Fraction,
    /// 0 to 100, to be divided by 100.
    Percent,
}

impl Range {
    /// The value in the attribute's unit, if it is a possible one.
    pub(crate) fn check(self, value: f64) -> Option<f64> {
        let fraction = |value: f64| (0.0..=1.01).contains(&value).then_some(value.min(1.0));
        match self {
            Self::NotNegative => (0.0..=f64::MAX).contains(&value).then_some(value),
            Self::Positive => (value > 0.0 && value.is_finite()).then_some(value),
            Self::Fraction => fraction(value),
            Self::Percent => fraction(value / 100.0),
        }
    }
}
