//! The commands that read files, as a shell runs them.

#![expect(clippy::expect_used, reason = "a helper of tests may fail as they do")]

use std::path::Path;
use std::process::{Command, Stdio};

use headroom_filter::config::Config;
use serde_json::Value;

/// Runs `headroom` in the package's folder; its exit code, stdout and stderr.
fn headroom(arguments: &[&str]) -> (i32, String, String) {
    headroom_reading(Stdio::null(), arguments)
}

/// The same, with something on stdin.
fn headroom_reading(stdin: Stdio, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_headroom"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(stdin)
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

/// A file with `text`; its path.
fn written(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

const EXAMPLE: [&str; 7] = [
    "explain",
    "--config",
    "examples/explain/plugin.json",
    "--snapshot",
    "examples/explain/snapshot.json",
    "--request",
    "examples/explain/request.json",
];

#[test]
fn check_takes_every_config_that_ships() {
    let (code, stdout, stderr) = headroom(&[
        "check",
        "../envoy/envoy.yaml",
        "../envoy/envoy-ecds.yaml",
        "../envoy/ecds.yaml",
        "examples/explain/plugin.json",
        "tests/check/short-form.yaml",
    ]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert_has(
        &stdout,
        &[
            "../envoy/envoy.yaml: ok (Envoy config)",
            "../envoy/envoy-ecds.yaml: warning: takes the filter's config from a discovery service",
            "examples/explain/plugin.json: ok (plugin config)",
            "tests/check/short-form.yaml: ok (pool in the short form)",
        ],
    );
}

#[test]
fn check_prints_every_fault_with_its_place() {
    let (code, stdout, _) = headroom(&["check", "tests/check/plugin-faults.json"]);
    assert_eq!(code, 1);
    let at = "tests/check/plugin-faults.json: ";
    for line in [
        "error: pools[0].name: \"name\": this key is given twice",
        "error: pools[0].filters[0].maxPercent: 900",
        "error: pools[0].scorers[0].type: \"qeue-scorer\": unknown type; known here are active-request-scorer",
        "warning: pools[0].maxAge.WaitingQueuSize: \"WaitingQueuSize\": is no attribute that is known here; was \"WaitingQueueSize\" meant?",
        "warning: pools[0].scorers[1].attributeKey: \"gpuutilization\"",
    ] {
        assert_has(&stdout, &[&format!("{at}{line}")]);
    }
    assert!(!stdout.contains("ok ("), "{stdout}");
}

#[test]
fn check_looks_into_istio_and_knows_the_companion() {
    let (code, stdout, _) = headroom(&["check", "tests/check/istio.yaml", "tests/check/companion.yaml"]);
    assert_eq!(code, 1);
    let inside = "document 2.spec.configPatches[0].patch.value.typed_config.config.configuration.value: ";
    assert_has(
        &stdout,
        &[
            &format!("istio.yaml: error: {inside}feed.cluster: \"cluster\": this key is given twice"),
            &format!("istio.yaml: error: {inside}pools[0].picker.type: \"best-picker\": unknown type"),
            "companion.yaml: error: pools[0].endpoints[1].address: \"10.0.0.5\": ",
        ],
    );
    assert!(!stdout.contains("document 1"), "{stdout}");
}

#[test]
fn check_and_import_look_into_config_maps() {
    let file = "tests/check/config-map.yaml";
    let fault = "error: data.default-plugins.yaml: schedulingProfiles[0].plugins[1].weigth: 2: unknown field";
    for command in ["check", "import"] {
        let (code, stdout, stderr) = headroom(&[command, file]);
        assert_eq!(code, 1);
        assert_has(&(stdout + &stderr), &[fault]);
    }
    let mended = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("a file");
    let path = written("mended.yaml", &mended.replace("weigth", "weight"));
    let (code, stdout, stderr) = headroom(&["import", &path, "--pool", "qwen", "--feed-cluster", "feed"]);
    assert_eq!(code, 0, "{stderr}");
    let config = Config::parse(stdout.as_bytes()).expect("compiles");
    assert_eq!((config.pools[0].name.as_str(), config.feed.cluster.as_str()), ("qwen", "feed"));
}

#[test]
fn check_finds_what_contradicts_between_files() {
    let (code, stdout, _) =
        headroom(&["check", "tests/check/short-ages.json", "tests/check/slow-companion.yaml"]);
    assert_eq!(code, 1);
    let companion = "tests/check/slow-companion.yaml: scrape.";
    for line in [
        &format!(
            "error: pools[0].maxAge.WaitingQueueSize: \"500ms\": is shorter than the time between two scrapes ({companion}interval: 1s)"
        ),
        &format!(
            "error: pools[0].filters[0].maxAge: \"10s\": is shorter than the time between two scrapes ({companion}exporterInterval: 15s)"
        ),
        &format!(
            "warning: pools[0].maxAge.GPUUtilization: \"20s\": is less than two intervals between scrapes ({companion}exporterInterval: 15s)"
        ),
        "warning: pools[1].name: \"llama\": no companion checked here has such a pool; they have qwen",
    ] {
        assert_has(&stdout, &[&format!("tests/check/short-ages.json: {line}")]);
    }
    assert_has(&stdout, &["slow-companion.yaml: ok (companion config)"]);
    assert!(!stdout.contains("\"3s\""), "{stdout}");
    let (code, stdout, _) = headroom(&["check", "tests/check/short-ages.json"]);
    assert_eq!(code, 0, "{stdout}");
}

#[test]
fn import_completes_the_short_form() {
    let (code, stdout, stderr) = headroom(&["import", "tests/check/short-form.yaml", "--pool", "qwen"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let config = Config::parse(stdout.as_bytes()).expect("compiles");
    assert_eq!(config.pools[0].name, "qwen");
    assert_eq!(config.pools[0].scheduler.profiles[0].scorers.len(), 2);
}

#[test]
fn what_cannot_be_read_is_2_and_the_rest_is_checked() {
    let (code, stdout, stderr) = headroom(&["check", "no-such-file", "examples/explain/plugin.json"]);
    assert_eq!(code, 2);
    assert_has(&stderr, &["no-such-file: cannot be read"]);
    assert_has(&stdout, &["plugin.json: ok"]);
    assert_eq!(headroom(&["check"]).0, 2);
    assert_eq!(headroom(&["import", "no-such-file"]).0, 2);
    let (code, stdout, _) = headroom(&["check", "tests/cli.rs"]);
    assert_eq!(code, 1, "{stdout}");
}

#[test]
fn every_sample_of_llm_d_imports_without_hand_edits() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let path = path.to_str().expect("UTF-8");
        let (code, stdout, stderr) = headroom(&["import", path, "--pool", "qwen"]);
        assert_eq!(code, 0, "{stderr}");
        let config = Config::parse(stdout.as_bytes()).expect("compiles");
        assert_eq!(config.pools[0].name, "qwen");
        assert!(stderr.lines().all(|line| line.contains(": warning: ")), "{stderr}");
        assert_eq!(headroom(&["check", path]).0, 0);
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn import_keeps_weights_and_says_what_it_leaves_out() {
    let (_, stdout, _) = headroom(&["import", "tests/import/prefix-queue-kv.yaml"]);
    let config = Config::parse(stdout.as_bytes()).expect("compiles");
    let scorers = &config.pools[0].scheduler.profiles[0].scorers;
    let weights: Vec<(&str, f64)> =
        scorers.iter().map(|scorer| (scorer.name.as_str(), scorer.weight)).collect();
    assert_eq!(
        weights,
        [("queue-scorer", 2.0), ("kv-cache-utilization-scorer", 2.0), ("prefix-cache-scorer", 3.0)]
    );
    let (_, stdout, stderr) = headroom(&["import", "tests/import/gpu-utilization.yaml"]);
    assert!(!stdout.contains("dcgm"), "{stdout}");
    assert_has(
        &stderr,
        &[
            "warning: featureGates[0]: \"flowControl\": left out",
            "warning: dataLayer: left out",
            "warning: flowControl: left out",
            "warning: plugins[0].type: dcgm-data-source: left out",
            "warning: plugins[2].parameters.producer: \"dcgm-extractor\": left out",
            "warning: plugins[5].type: utilization-detector: left out",
            "warning: schedulingProfiles[0].plugins[0].weight: 1: left out",
        ],
    );
    let (_, _, stderr) = headroom(&["import", "tests/import/disaggregation.yaml"]);
    assert_has(
        &stderr,
        &["warning: plugins[1].type: approx-prefix-cache-producer: left out: a data producer"],
    );
    let (_, stdout, _) = headroom(&["import", "tests/import/older-names.yaml"]);
    let pool: Value = serde_json::from_str(&stdout).expect("JSON");
    let handler = &pool["pools"][0]["plugins"][4];
    assert_eq!(handler["type"], "disagg-profile-handler");
    assert_eq!(handler["parameters"]["profiles"]["decode"], "decode-stage");
    assert_eq!(handler["parameters"]["deciders"]["prefill"], "prefix-based-pd-decider");
}

#[test]
fn import_prints_nothing_that_is_wrong() {
    let (code, stdout, stderr) = headroom(&["import", "tests/check/companion.yaml"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert_has(&stderr, &["must contain one EndpointPickerConfig", "and contains 0"]);
    let (code, stdout, stderr) = headroom(&["import", "tests/check/plugin-faults.json"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert_has(&stderr, &["pools[0].filters[0].maxPercent"]);
}

#[test]
fn explain_says_who_and_why() {
    let (code, stdout, stderr) = headroom(&EXAMPLE);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_has(
        &stdout,
        &[
            "Pool qwen: chose qwen-1 at 10.0.0.6:8000",
            "left out  llama-0 (label-selector-filter)",
            "left out  qwen-2 (gpu-utilization-filter)",
            "may serve qwen-1",
            "4 + 1 sent since, 180 ms old",
        ],
    );
    let json = |seed: &str| headroom(&[&EXAMPLE[..], &["--json", "--seed", seed]].concat());
    let (code, stdout, _) = json("7");
    let explanation: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(code, 0);
    assert_eq!(explanation["outcome"]["chosen"][0], "10.0.0.6:8000");
    assert_eq!(stdout, json("7").1, "the same seed gives the same decision");
}

#[test]
fn explain_shows_decisions_that_envoy_logged() {
    let (_, table, _) = headroom(&EXAMPLE);
    let (_, json, _) = headroom(&[&EXAMPLE[..], &["--json"]].concat());
    let decision: Value = serde_json::from_str(&json).expect("JSON");
    let log = written("access.log", &format!("POST /v1/chat/completions 200\n200 {decision} 12ms\n"));
    assert_eq!(headroom(&["explain", "--decision", &log]), (0, table.clone(), String::new()));
    let piped = std::fs::File::open(&log).expect("written");
    assert_eq!(headroom_reading(piped.into(), &["explain", "--decision", "-"]).1, table);
    let (code, shown, _) = headroom(&["explain", "--decision", &log, "--json"]);
    assert_eq!((code, serde_json::from_str::<Value>(&shown).expect("JSON")), (0, decision));

    let without = written("plain.log", "POST /v1/chat/completions 200\n");
    let (code, stdout, stderr) = headroom(&["explain", "--decision", &without]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert_has(&stderr, &["plain.log: error: holds no decision", "FILTER_STATE(wasm.headroom_decision"]);
    assert_eq!(headroom(&["explain", "--decision", "no-such-file"]).0, 2);
    assert_eq!(headroom(&["explain"]).0, 2, "nothing to explain");
    assert_eq!(headroom(&["explain", "--decision", &log, "--seed", "1"]).0, 2, "either, not both");
}

#[test]
fn explain_names_what_is_wrong_with_its_input() {
    let with = |at: usize, file: &str| {
        let mut arguments = EXAMPLE;
        arguments[at] = file;
        let (code, stdout, stderr) = headroom(&arguments);
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        stderr
    };
    let unknown = written("unknown.json", r#"{"endpoints": [{"address": "10.0.0.1:80", "port": 1}]}"#);
    assert_has(&with(4, &unknown), &["error: endpoints[0].port: 1: unknown field `port`"]);
    let other = written("other.json", r#"{"pool": "llama", "endpoints": []}"#);
    assert_has(&with(4, &other), &["llama: the snapshot is of a pool that the config does not have", "qwen"]);
    let no_model = written("request.json", r#"{"body": {"messages": []}}"#);
    assert_has(
        &with(6, &no_model),
        &["error: body: the filter answers 400: the request body names no model"],
    );
    assert_has(&with(2, "tests/check/plugin-faults.json"), &["pools[0].filters[0].maxPercent"]);
}

#[test]
fn extract_compares_every_fixture_and_a_difference_is_a_failure() {
    let (code, stdout, stderr) = headroom(&["extract", "--expect", "tests/fixtures"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert_has(&stdout, &["tests/fixtures/sglang-ranks.prom", " ok ", "0 scrapes differ"]);

    // Whoever keeps more of them has them compared too.
    if let Ok(folder) = std::env::var("HEADROOM_TEST_FIXTURES") {
        let (code, stdout, _) = headroom(&["extract", "--expect", &folder]);
        assert_eq!(code, 0, "{stdout}");
    }

    let expected = "tests/fixtures/tgi.expect.json";
    let (code, stdout, _) = headroom(&["extract", "--expect", expected, "tests/fixtures/llamacpp.prom"]);
    assert_eq!(code, 1, "{stdout}");
    assert_has(
        &stdout,
        &[
            "DIFFERENT                engine                 tgi                    llamacpp",
            "DIFFERENT self           RunningRequestsSize    5                      1",
            "DIFFERENT self           KVCacheUsagePercent    missing                0.5",
            "1 scrapes differ",
        ],
    );
    let (code, stdout, _) = headroom(&["extract", "--json", "--expect", expected]);
    let json: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((code, json.pointer("/comparisons/0/equal")), (0, Some(&Value::Bool(true))));
}

#[test]
fn extract_shows_attributes_and_what_was_ignored() {
    let (code, stdout, _) = headroom(&["extract", "tests/fixtures/vllm-damaged-lines.prom"]);
    assert_eq!(code, 0);
    assert_has(
        &stdout,
        &[
            "vllm-damaged-lines.prom: vllm, 3 samples",
            "KVCacheUsagePercent      0.125            fraction",
            "line 3: unterminated label set",
        ],
    );
    let (_, stdout, _) = headroom(&["extract", "tests/fixtures/dcgm-pods.prom"]);
    assert_has(
        &stdout,
        &[
            "dcgm-exporter, 23 samples",
            "s/a\n",
            "gpu-c3\n",
            "DCGM_FI_DEV_POWER_USAGE has the exporter's \"no value\" for 1 of its series",
            "DCGM_FI_DEV_GPU_UTIL has no possible value for 1 of its series",
        ],
    );
    let (code, stdout, _) = headroom(&["extract", "--json", "tests/fixtures/unknown-engine.prom"]);
    let json: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(code, 1, "nothing in it is known");
    assert_eq!(json.pointer("/scrapes/0/endpoints/self/attributes"), Some(&serde_json::json!({})));
    let note = json.pointer("/scrapes/0/notes/0").and_then(Value::as_str).expect("a note");
    assert!(note.starts_with("no known engine"), "{note}");
}

#[test]
fn extract_takes_the_endpoints_of_a_companion_or_of_a_list() {
    let exporter = "http://10.0.0.9:9400/metrics";
    let endpoints = format!(
        "endpoints:\n- {{address: '10.0.0.1:8000', name: fast, gpus: {{exporter: '{exporter}', uuids: [GPU-C0, GPU-C1]}}}}\n\
         - {{address: 10.0.0.2, port: '8000', name: a, namespace: t}}\ndefaults: {{gpus: {{}}}}\n"
    );
    let list = written("endpoints.yaml", &endpoints);
    let pool = endpoints.replace('\n', "\n  ").replace("endpoints:", "- name: p\n  endpoints:");
    let config = written("endpoints-companion.yaml", &format!("pools:\n{pool}"));
    for file in [list, config] {
        let (code, stdout, stderr) =
            headroom(&["extract", "--endpoints", &file, "tests/fixtures/dcgm-pods.prom"]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
        assert_has(
            &stdout,
            &[
                "  a\n    GPUPowerWatts            99               watts",
                "  fast\n",
                "GPUXidErrors             63               code",
                "1 GPUs belong to none of these endpoints: no_owner",
            ],
        );
    }
    let broken = written("no-endpoints.yaml", "colors: [red]");
    let (code, _, stderr) = headroom(&["extract", "--endpoints", &broken, "tests/fixtures/tgi.prom"]);
    assert_eq!(code, 2);
    assert_has(&stderr, &["no-endpoints.yaml: is neither a companion's config (pools)"]);
    let (code, _, stderr) = headroom(&["extract", "--engine", "tvllm", "tests/fixtures/tgi.prom"]);
    assert_eq!(code, 2);
    assert_has(&stderr, &["--engine tvllm: no engine known here; known: auto, vllm, sglang"]);
}
