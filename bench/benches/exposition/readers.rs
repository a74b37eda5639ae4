//! The crates that are compared, each by how it is used and by what it makes of a scrape.

use headroom_exposition::parse;
use nom_openmetrics::parser::prometheus;
use prometheus_parse::{Scrape, Value};
use prometheus_scraper::{
    Format, TextFormat,
    borrowed::{BucketCount, MetricFamily, MetricValue},
    parse_payload,
};

use crate::scrape::ESCAPED;

/// A crate that reads scrapes.
pub(crate) struct Reader {
    pub(crate) name: &'static str,
    /// Reads, and forgets what was read; how much that was.
    pub(crate) run: fn(&str) -> usize,
    /// What the crate says is in the text.
    pub(crate) content: fn(&str) -> Option<Content>,
}

/// What every reader must agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Content {
    /// The lines with a value.
    pub(crate) values: usize,
    /// The sum of those that are finite.
    pub(crate) sum: f64,
    /// The labels whose value is [`ESCAPED`].
    pub(crate) escaped: usize,
}

impl Content {
    fn value(&mut self, value: f64) {
        self.values += 1;
        self.sum += if value.is_finite() { value } else { 0.0 };
    }

    fn label(&mut self, value: &str) {
        self.escaped += usize::from(value == ESCAPED.0);
    }
}

pub(crate) const READERS: &[Reader] = &[
    Reader { name: "headroom-exposition", run: |text| parse(text).samples.len(), content: ours },
    Reader {
        name: "prometheus-scraper",
        run: |text| scraper(text).map_or(0, |families| families.len()),
        content: in_families,
    },
    Reader {
        name: "nom-openmetrics",
        run: |text| prometheus(text).map_or(0, |(_, families)| families.len()),
        content: by_nom,
    },
    Reader {
        name: "prometheus-parse",
        run: |text| scrape(text).map_or(0, |scrape| scrape.samples.len()),
        content: by_regex,
    },
];

fn ours(text: &str) -> Option<Content> {
    let parsed = parse(text);
    let mut content = Content::default();
    for sample in &parsed.samples {
        content.value(sample.value);
        sample.labels.iter().for_each(|label| content.label(&label.value));
    }
    (parsed.error_count == 0).then_some(content)
}

fn scraper(text: &str) -> Option<Vec<MetricFamily<'_>>> {
    parse_payload(text.as_bytes(), Format::Text(TextFormat::Prometheus)).collect::<Result<_, _>>().ok()
}

fn in_families(text: &str) -> Option<Content> {
    let mut content = Content::default();
    for metric in scraper(text)?.iter().flat_map(|family| &family.metric) {
        metric.label.iter().for_each(|label| content.label(&label.value));
        match &metric.value {
            MetricValue::Counter(counter) => content.value(counter.value.as_f64()),
            MetricValue::Gauge(number) | MetricValue::Untyped(number) => content.value(number.as_f64()),
            MetricValue::Histogram(histogram) => {
                if let Some(sum) = histogram.sample_sum {
                    content.value(sum.as_f64());
                }
                match &histogram.counts {
                    BucketCount::Int { buckets, sample_count, .. } => {
                        sample_count.iter().for_each(|count| content.value(*count as f64));
                        buckets.iter().for_each(|bucket| content.value(bucket.cumulative_count as f64));
                    }
                    BucketCount::Float { buckets, sample_count, .. } => {
                        sample_count.iter().for_each(|count| content.value(*count));
                        buckets.iter().for_each(|bucket| content.value(bucket.cumulative_count));
                    }
                }
            }
            _ => return None,
        }
    }
    Some(content)
}

fn by_nom(text: &str) -> Option<Content> {
    let mut content = Content::default();
    let (_, families) = prometheus(text).ok()?;
    for sample in families.iter().flat_map(|family| &family.samples) {
        content.value(sample.number());
        sample.labels().iter().for_each(|label| content.label(&label.value));
    }
    Some(content)
}

fn scrape(text: &str) -> Option<Scrape> {
    Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).ok()
}

fn by_regex(text: &str) -> Option<Content> {
    let mut content = Content::default();
    for sample in scrape(text)?.samples {
        sample.labels.values().for_each(|value| content.label(value));
        match sample.value {
            Value::Counter(value) | Value::Gauge(value) | Value::Untyped(value) => content.value(value),
            Value::Histogram(buckets) => buckets.iter().for_each(|bucket| content.value(bucket.count)),
            Value::Summary(quantiles) => quantiles.iter().for_each(|quantile| content.value(quantile.count)),
        }
    }
    Some(content)
}
