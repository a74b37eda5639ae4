//! The form of an engine's table.

/// What one model server calls its metrics.
#[derive(Debug, PartialEq)]
pub(crate) struct EngineTable {
    /// The name in configs.
    pub(crate) name: &'static str,
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

/// Where a value is.
#[derive(Debug, PartialEq)]
pub(crate) enum From {
    /// The value of a gauge; several series are ranks of the engine.
    Gauge {
        /// The metric.
        metric: &'static str,
        /// Which values are possible.
        range: Range,
    },
    /// A number in a label of an info metric, above zero; several series are ranks of the engine.
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
}

impl From {
    /// The metrics that this reads.
    pub(crate) fn metrics(&self) -> Vec<&'static str> {
        match self {
            Self::Gauge { metric, .. }
            | Self::InfoLabel { metric, .. }
            | Self::LatestNames { metric, .. }
            | Self::LatestNumber { metric, .. } => vec![metric],
            Self::LabelNames { metrics, .. } => metrics.to_vec(),
            Self::Ratio { hits, queries } => vec![hits, queries],
        }
    }
}

/// Which values a metric can have. What lies outside was not measured: it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// Zero and up.
    NotNegative,
    /// 0 to 1. Up to a hundredth above is rounding and counts as 1.
    Fraction,
    /// 0 to 100, to be divided by 100.
    Percent,
}

impl Range {
    /// The value in the attribute's unit, if it is a possible one.
    pub(crate) fn check(self, value: f64) -> Option<f64> {
        let value = if self == Self::Percent { value / 100.0 } else { value };
        let most = if self == Self::NotNegative { f64::MAX } else { 1.01 };
        (0.0..=most).contains(&value).then(|| if self == Self::NotNegative { value } else { value.min(1.0) })
    }
}
