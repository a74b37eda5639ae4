use std::time::Duration;

use super::{Config, parse};
use crate::{
    discovery::{GpuReading, Member, Source, TargetKey},
    join::GpuSelector,
    scrape::{Plan, plans},
};

/// The endpoints that the file itself names, pool by pool.
fn members(config: &Config) -> Vec<(usize, &Member)> {
    let pools = config.pools.iter().enumerate();
    let listed = pools.flat_map(|(index, pool)| pool.sources.iter().map(move |source| (index, source)));
    listed.flat_map(|(index, source)| source.known().iter().map(move |member| (index, member))).collect()
}

fn targets(config: &Config) -> Vec<(TargetKey, Plan)> {
    plans(members(config).into_iter().map(|(pool, member)| (pool, 1, member))).into_iter().collect()
}

fn good(text: &str) -> Config {
    parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The errors as `path: reason`, in order.
fn errors(text: &str) -> Vec<(String, String)> {
    let errors = parse(text).expect_err("the config is wrong");
    errors.iter().map(|error| (error.path.clone(), error.reason.clone())).collect()
}

#[test]
fn a_short_config_gets_the_defaults() {
    let config =
        good("pools: [{name: p, endpoints: [{address: '10.0.0.1:8000'}, {address: '[fd00::1]:8000'}]}]");
    assert_eq!(config.feed.listen.to_string(), "127.0.0.1:9002");
    assert_eq!(config.admin.to_string(), "127.0.0.1:9003");
    assert_eq!(config.scrape.max_backoff, Duration::from_secs(2));
    let targets = targets(&config);
    let urls: Vec<_> =
        targets.iter().map(|(key, plan)| (key.url.as_str(), plan.pace.interval.as_millis())).collect();
    assert_eq!(urls, [("http://10.0.0.1:8000/metrics", 200), ("http://[fd00::1]:8000/metrics", 200)]);
    assert!(targets.iter().all(|(_, plan)| plan.pace.timeout == Duration::from_secs(2)));
    let members = members(&config);
    let endpoint = members.first().map(|(_, member)| &member.endpoint).expect("an endpoint");
    assert_eq!(endpoint.name, "10.0.0.1:8000");
    assert!(endpoint.labels.is_empty());
}

const WHOLE: &str = r#"
feed: {listen: "0.0.0.0:0"}
admin: {listen: "0.0.0.0:0"}
scrape: {interval: 50ms, exporterInterval: 1s, timeout: 4s, maxBackoff: 3s, maxResponseBytes: 4096}
pools:
  - name: chat
    endpoints:
      - address: 10.0.0.1:8000
        name: qwen-0
        labels: {llm-d.ai/role: decode, zone: no}
        engine: vllm
        metrics: http://qwen-0.serving:8080/custom
        gpus: {exporter: "http://10.0.0.9:9400/metrics", uuids: [GPU-AB]}
      - address: 10.0.0.2:8000
        gpus: {exporter: "http://10.0.0.9:9400/metrics", pciBusIds: ["0000:1B:00.0"]}
  - name: code
    endpoints:
      - address: 10.0.0.1:8000
        metrics: http://qwen-0.serving:8080/custom
        gpus: {exporter: "http://10.0.0.9:9400/metrics", labels: {pod: p, namespace: n}}
      - address: 10.0.0.3:8000
        gpus: {exporter: "http://10.0.0.8:9400/metrics", host: true}
"#;

#[test]
fn a_url_is_scraped_once_however_many_endpoints_share_it() {
    let config = good(WHOLE);
    let targets = targets(&config);
    let shown: Vec<_> = targets
        .iter()
        .map(|(key, plan)| (key.url.as_str(), plan.pace.interval.as_millis(), plan.consumers.len()))
        .collect();
    assert_eq!(
        shown,
        [
            ("http://10.0.0.2:8000/metrics", 50, 1),
            ("http://10.0.0.3:8000/metrics", 50, 1),
            ("http://10.0.0.8:9400/metrics", 1000, 1),
            ("http://10.0.0.9:9400/metrics", 1000, 3),
            ("http://qwen-0.serving:8080/custom", 50, 2),
        ]
    );
    let (_, exporter) = targets.get(3).expect("the shared exporter");
    let selectors: Vec<_> = exporter
        .consumers
        .iter()
        .map(|consumer| match &consumer.source {
            Source::Gpus(GpuReading { selector: GpuSelector::Uuids(uuids), .. }) => format!("{uuids:?}"),
            Source::Gpus(GpuReading { selector: GpuSelector::PciBusIds(ids), .. }) => {
                format!("{} slot", ids.len())
            }
            Source::Gpus(GpuReading { selector: GpuSelector::Labels(labels), .. }) => format!("{labels:?}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(selectors, [r#"{"gpu-ab"}"#, "1 slot", r#"{"namespace": "n", "pod": "p"}"#]);
    let members = members(&config);
    let labels = members.first().map(|(_, member)| &member.endpoint.labels).expect("qwen-0");
    assert_eq!(labels.get("zone").map(String::as_str), Some("no"), "a bare no is text, not false");
}

#[test]
fn json_works_as_well() {
    let config = good(r#"{"pools": [{"name": "p", "endpoints": [{"address": "10.0.0.1:80"}]}]}"#);
    assert_eq!(targets(&config).len(), 1);
}

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let text = r#"
feed: {listen: nowhere, tls: {certFile: c, keyFile: k, caFile: x}, maxSubscribers: 0, maxMessageBytes: 12}
scrape: {interval: 200, timeout: 6s, maxBackof: 1s, maxResponseBytes: 12}
pools:
  - name: p
    endpoints:
      - {address: 10.0.0.1:8000, labels: {gen: 5}}
      - {address: 10.0.0.1:8000, engine: tvllm}
      - 10.0.0.3:8000
      - {address: "10.0.0.4", metrics: "ftp://x/metrics", gpus: {exporter: "", uuids: [], host: true}}
      - {adress: 10.0.0.5:8000, address: "10.0.0.5:0", metrics: "http://u:p@x/", gpus: {exporter: "http://e", pciBusIds: [zz]}}
  - {name: p, endpoints: {}}
"#;
    let found = errors(text);
    let expected = [
        ("feed.tls.caFile", "unknown field `caFile`"),
        ("scrape.interval", "expected a string"),
        ("scrape.maxBackof", "unknown field `maxBackof`"),
        ("pools[0].endpoints[0].labels.gen", "expected a string"),
        ("pools[0].endpoints[2]", "expected struct Endpoint"),
        ("pools[0].endpoints[4].adress", "unknown field `adress`"),
        ("pools[1].endpoints", "expected a sequence"),
        ("feed.listen", "is not ip:port"),
        ("feed.maxSubscribers", "must be from 1 to 65536"),
        ("feed.maxMessageBytes", "must be from 65536"),
        ("scrape.timeout", "must be from 10ms to 5s"),
        ("scrape.maxResponseBytes", "must be from 1024"),
        ("pools[0].endpoints[1].engine", "known: auto, vllm, sglang"),
        ("pools[0].endpoints[1].address", "endpoints[0] of this pool has the same address"),
        ("pools[0].endpoints[3].address", "is not an address"),
        ("pools[0].endpoints[3].metrics", "must be an http:// or https:// URL"),
        ("pools[0].endpoints[3].gpus.exporter", "is no URL"),
        ("pools[0].endpoints[3].gpus.uuids", "is empty"),
        ("pools[0].endpoints[3].gpus", "exactly one of"),
        ("pools[0].endpoints[4].address", "is not an address"),
        ("pools[0].endpoints[4].metrics", "credentials"),
        ("pools[0].endpoints[4].gpus.pciBusIds[0]", "is no PCI bus id"),
        ("pools[1].name", "another pool has this name"),
    ];
    for (path, reason) in expected {
        let matches = |(at, why): &&(String, String)| at == path && why.contains(reason);
        assert_eq!(found.iter().filter(matches).count(), 1, "{path}: {reason} in {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn single_mistakes() {
    let cases = [
        ("", "pools", "at least one pool"),
        ("[]", "config", "must be a mapping"),
        ("just words", "config", "must be a mapping"),
        ("pools: [", "config", "unclosed bracket"),
        ("pools: []\npools: []", "config", "duplicate mapping key"),
        ("pools: [{endpoints: []}]", "pools[0].name", "give the pool a name"),
        ("pools: [5]", "pools[0]", "expected struct Pool"),
        ("feed: {}\npools: [{name: p}]", "feed", "missing field `listen`"),
        (
            "feed: {listen: '1.1.1.1:1', tls: {certFile: c}}\npools: [{name: p}]",
            "feed.tls",
            "missing field `keyFile`",
        ),
        (
            "feed: {listen: '1.1.1.1:1', tls: {certFile: '', keyFile: k}}\npools: [{name: p}]",
            "feed.tls.certFile",
            "name a PEM file",
        ),
        (
            "feed: {listen: '1.1.1.1:1'}\nadmin: {listen: '1.1.1.1:1'}\npools: [{name: p}]",
            "admin.listen",
            "is the feed's address too",
        ),
        ("scrape: {interval: 5}\npools: [{name: p}]", "scrape.interval", "expected a string"),
        ("scrape: {interval: 1ms}\npools: [{name: p}]", "scrape.interval", "must be from 10ms"),
        ("scrape: {interval: 10s, maxBackoff: 5s}\npools: [{name: p}]", "scrape.maxBackoff", "from 10s"),
        ("pools: [{name: p, endpoints: [{address: ''}]}]", "pools[0].endpoints[0].address", "not an address"),
    ];
    for (text, path, reason) in cases {
        let found = errors(text);
        let [(at, why)] = found.as_slice() else { panic!("{text}: {found:?}") };
        assert!(at == path && why.contains(reason), "{text}: {at}: {why}");
    }
}

#[test]
fn an_error_reads_as_path_value_and_reason() {
    let errors = parse("pools: [{name: p, endpoints: [{address: 'localhost:80'}]}]").expect_err("no IP");
    assert_eq!(
        errors.to_string(),
        "pools[0].endpoints[0].address: \"localhost:80\": is not an address of the form ip:port (IPv6 in \
         brackets, port 1 to 65535)"
    );
    let errors =
        parse("pools: [{name: p, color: red}, {name: q, endpoints: [{engine: x, address: '1.1.1.1:1'}]}]");
    assert_eq!(
        errors.expect_err("unknown").to_string(),
        "pools[0].color: \"red\": unknown field `color`, expected one of `name`, `endpoints`, `file`, `defaults`\n\
         pools[1].endpoints[0].engine: \"x\": is no engine known here; known: auto, vllm, sglang, trtllm, \
         triton-trtllm, triton, tgi, llamacpp, lmdeploy, ray-vllm"
    );
}

#[test]
fn an_interval_longer_than_values_are_believed_is_pointed_out() {
    let config = good("scrape: {interval: 15s, exporterInterval: 1m}\npools: [{name: p}]");
    let [interval, exporter] = config.warnings.as_slice() else { panic!("{:?}", config.warnings) };
    assert!(interval.starts_with("scrape.interval: 15s: readers believe such a value for 5s"), "{interval}");
    assert!(exporter.starts_with("scrape.exporterInterval: 60s: "), "{exporter}");
    assert_eq!(good("pools: [{name: p}]").warnings, [""; 0]);
}

#[test]
fn attributes_of_the_configs_own_are_checked() {
    let with = |defaults: &str| {
        format!("pools: [{{name: p, endpoints: [{{address: '1.1.1.1:1'}}], defaults: {defaults}}}]")
    };
    let cases = [
        (
            "{custom: [{attribute: '', metric: m, aggregate: sum}]}",
            "custom[0].attribute",
            "name the attribute",
        ),
        ("{custom: [{attribute: A, metric: 'm{a=b}', aggregate: sum}]}", "custom[0].metric", "go into match"),
        ("{custom: [{attribute: A, metric: m}]}", "custom[0].aggregate", "say how several series"),
        (
            "{custom: [{attribute: A, metric: m, aggregate: first}]}",
            "custom[0].aggregate",
            "must be sum, mean",
        ),
        (
            "{custom: [{attribute: A, metric: m, aggregate: sum, scale: 0}]}",
            "custom[0].scale",
            "other than 0",
        ),
        (
            "{custom: [{attribute: ServedModels, metric: m, aggregate: max}]}",
            "custom[0].attribute",
            "set of names",
        ),
        ("{attributes: {KVCacheUsagePercent: 55}}", "attributes.KVCacheUsagePercent", "can have"),
        ("{attributes: {ServedModels: 5}}", "attributes.ServedModels", "a list of names"),
        ("{engine: tvllm}", "engine", "known: auto, vllm"),
        ("{metrics: {scheme: ftp}}", "metrics.scheme", "http or https"),
        ("{metrics: {path: m}}", "metrics.path", "start with a slash"),
        ("{gpus: {by: card}}", "gpus.by", "must be pod or host"),
        ("{gpus: {refresh: 1ms}}", "gpus.refresh", "must be from 10ms"),
        ("{scrape: {tls: {certFile: c}}}", "scrape.tls", "both certFile and keyFile"),
    ];
    for (defaults, path, reason) in cases {
        let found = errors(&with(defaults));
        let [(at, why)] = found.as_slice() else { panic!("{defaults}: {found:?}") };
        assert!(
            *at == format!("pools[0].defaults.{path}") && why.contains(reason),
            "{defaults}: {at}: {why}"
        );
    }
    let config = good(&with(
        "{custom: [{attribute: custom.gpu_utilization_percent, metric: m}], attributes: {custom.queue_depth: 5}}",
    ));
    let members = members(&config);
    let readings = members.iter().flat_map(|(_, member)| &member.readings);
    let engines: Vec<_> = readings
        .filter_map(|reading| match &reading.source {
            Source::Engine(engine) => Some(engine),
            _ => None,
        })
        .collect();
    let [engine] = engines.as_slice() else { panic!("{engines:?}") };
    let custom = engine.custom.first().expect("one");
    assert_eq!(
        (&*custom.attribute, custom.scale),
        ("GPUUtilization", 0.01),
        "percent to the stored fraction"
    );
    assert!(engine.fixed.contains_key("WaitingQueueSize"));
}

#[test]
fn a_file_that_is_missing_and_a_token_in_the_open_are_pointed_out() {
    let text = "scrape: {tls: {caFile: /nowhere/ca.pem}}
pools:
- {name: p, defaults: {scrape: {bearerTokenFile: /nowhere/token}}, endpoints: [{address: '10.0.0.1:80'}]}";
    let warnings = good(text).warnings;
    let [ca, token, open] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(ca.starts_with("scrape.tls.caFile: \"/nowhere/ca.pem\": cannot be read here: No such"), "{ca}");
    assert!(token.starts_with("pools[0].defaults.scrape.bearerTokenFile: "), "{token}");
    assert!(open.starts_with("pools[0]: a bearer token is shown to http targets"), "{open}");
}
