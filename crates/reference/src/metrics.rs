//! docs/metrics.md.

use std::fmt::Write as _;

use headroom_filter::stats::METRICS;

use crate::markdown::GENERATED;

pub(crate) fn page() -> String {
    let mut page = format!(
        "# Metrics\n\n{GENERATED}\n\
         ## From Envoy\n\n\
         On Envoy's `/stats/prometheus`. Envoy's Wasm metrics have no labels of their own: the `stats_tags` of \
         `envoy/envoy.yaml` make them.\n\n\
         | metric | kind | labels | meaning |\n| --- | --- | --- | --- |\n"
    );
    for metric in METRICS {
        let kind = format!("{:?}", metric.kind).to_lowercase();
        let labels = metric.labels.join(", ");
        let _infallible = writeln!(page, "| `{}` | {kind} | {labels} | {} |", metric.name, metric.meaning);
    }
    page
}
