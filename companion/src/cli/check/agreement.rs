//! Whether the plugin's config and the companion's, checked together, fit each other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use headroom_datalayer::{AttributeRef, Span, attribute_info};
use serde_json::Value;

use super::Report;
use crate::cli::finding::Finding;
use crate::cli::plugin_configs::Located;
use crate::config::{Config, Pool};

/// A pool of a companion, and how often its endpoints are measured.
struct Measured {
    pool: String,
    engine: Rate,
    exporter: Rate,
}

/// The longest time between two scrapes, and where that is said.
#[derive(Default)]
struct Rate {
    interval: Duration,
    said: String,
}

/// A `maxAge` of a plugin config.
#[derive(Debug, PartialEq, Eq)]
struct Limit {
    path: String,
    text: String,
    is_hardware: bool,
}

/// Adds to each report what contradicts another.
pub(super) fn check(reports: &mut [(&PathBuf, Report)]) {
    let measured: Vec<Measured> = reports
        .iter()
        .flat_map(|(file, report)| report.companions.iter().map(move |companion| (file, companion)))
        .filter_map(|(file, (prefix, config))| Some(measured(file, prefix, config.as_ref()?)))
        .flatten()
        .collect();
    if measured.is_empty() {
        return;
    }
    for (_, report) in reports {
        let findings = report.plugins.iter().flat_map(|located| compare(located, &measured));
        report.findings.extend(findings.collect::<Vec<_>>());
    }
}

fn measured(file: &Path, prefix: &str, config: &Config) -> Vec<Measured> {
    let rate = |interval, key: &str| Rate { interval, said: format!("{}: {prefix}{key}", file.display()) };
    let measured = |pool: &Pool| Measured {
        pool: pool.name.clone(),
        engine: rate(pool.engine_interval, "scrape.interval"),
        exporter: rate(pool.exporter_interval, "scrape.exporterInterval"),
    };
    config.pools.iter().map(measured).collect()
}

fn compare(located: &Located, measured: &[Measured]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, pool) in
        located.value.get("pools").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let path = format!("pools[{index}]");
        let name = pool.get("name").and_then(Value::as_str).unwrap_or_default();
        let same = measured.iter().find(|measured| measured.pool == name);
        let found = match (same, measured) {
            (Some(found), _) => found,
            // A pool that its file leaves nameless is the companion's only one.
            (None, [only]) if !located.names_its_pools() => only,
            (None, _) => {
                if located.names_its_pools() {
                    let known: Vec<&str> = measured.iter().map(|measured| measured.pool.as_str()).collect();
                    let reason =
                        format!("no companion checked here has such a pool; they have {}", known.join(", "));
                    let path = located.place(&format!("{path}.name"));
                    findings.push(Finding::warning(path, format!("{name:?}"), reason));
                }
                continue;
            }
        };
        let mut limits = Vec::new();
        collect(pool, &path, &mut limits);
        findings.extend(limits.into_iter().filter_map(|limit| contradiction(located, &limit, found)));
    }
    findings
}

fn contradiction(located: &Located, limit: &Limit, measured: &Measured) -> Option<Finding> {
    let rate = if limit.is_hardware { &measured.exporter } else { &measured.engine };
    let age = Duration::from_micros(limit.text.parse::<Span>().ok()?.as_micros());
    let (path, value) = (located.place(&limit.path), format!("{:?}", limit.text));
    let (interval, said) = (rate.interval, &rate.said);
    if age < interval {
        let reason = format!(
            "is shorter than the time between two scrapes ({said}: {interval:?}): the value would be missing \
             most of the time; make it {:?} or more",
            interval * 2
        );
        return Some(Finding::error(path, value, reason));
    }
    (age < interval * 2).then(|| {
        let reason = format!(
            "is less than two intervals between scrapes ({said}: {interval:?}): one slow scrape makes the value \
             missing; make it {:?} or more",
            interval * 2
        );
        Finding::warning(path, value, reason)
    })
}

/// Every age limit below `node`: a pool's `maxAge` by attribute, and the one of each plugin.
fn collect(node: &Value, path: &str, limits: &mut Vec<Limit>) {
    match node {
        Value::Array(list) => {
            for (index, node) in list.iter().enumerate() {
                collect(node, &format!("{path}[{index}]"), limits);
            }
        }
        Value::Object(map) => {
            for (key, below) in map {
                let path = format!("{path}.{key}");
                match (key.as_str(), below) {
                    ("maxAge", Value::Object(ages)) => {
                        for (name, age) in ages {
                            let Some(text) = age.as_str() else { continue };
                            let path = format!("{path}.{name}");
                            limits.push(Limit {
                                path,
                                text: text.to_owned(),
                                is_hardware: is_hardware(name),
                            });
                        }
                    }
                    ("maxAge", Value::String(text)) => {
                        let is_hardware = reads_hardware(node);
                        limits.push(Limit { path, text: text.clone(), is_hardware });
                    }
                    // The entry says what the parameters are of.
                    ("parameters", Value::Object(parameters)) => {
                        let mut whole = map.clone();
                        whole.extend(parameters.clone());
                        whole.remove("parameters");
                        collect(&Value::Object(whole), &path, limits);
                    }
                    _ => collect(below, &path, limits),
                }
            }
        }
        _ => {}
    }
}

fn is_hardware(attribute: &str) -> bool {
    attribute_info(&AttributeRef::resolve(attribute).key).is_some_and(|info| info.is_hardware())
}

/// Whether a plugin's entry reads an attribute of the hardware. Only three types read any.
fn reads_hardware(entry: &Value) -> bool {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    text("type") == Some("gpu-utilization-filter")
        || ["attribute", "attributeKey"].iter().filter_map(|key| text(key)).any(is_hardware)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn age_limits_are_found_in_both_shapes_with_what_they_are_of() {
        let pool = json!({
            "maxAge": {"WaitingQueueSize": "1s", "custom.gpu_utilization_percent": "30s"},
            "filters": [{"type": "gpu-utilization-filter", "maxPercent": 90, "maxAge": "10s"}],
            "plugins": [{"type": "endpoint-attribute-scorer", "parameters": {"attributeKey": "SMActive", "maxAge": "20s"}},
                        {"type": "queue-scorer", "parameters": {"maxAge": "2s"}}],
        });
        let mut limits = Vec::new();
        collect(&pool, "p", &mut limits);
        let found: Vec<_> = limits
            .iter()
            .map(|limit| (limit.path.as_str(), limit.text.as_str(), limit.is_hardware))
            .collect();
        assert_eq!(
            found,
            [
                ("p.filters[0].maxAge", "10s", true),
                ("p.maxAge.WaitingQueueSize", "1s", false),
                ("p.maxAge.custom.gpu_utilization_percent", "30s", true),
                ("p.plugins[0].parameters.maxAge", "20s", true),
                ("p.plugins[1].parameters.maxAge", "2s", false),
            ]
        );
    }
}
