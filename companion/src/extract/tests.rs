use std::{collections::BTreeMap, sync::Arc};

use headroom_datalayer::{Combine, Sample, Timestamp, Value};
use headroom_exposition::parse;

use super::{
    Cell, Custom, EngineMemory, EngineReading, Families, HitRate, Range, combine, engine, engine::Extraction,
    extract_engine, extract_models, rate::Rate,
};

const SENT: Timestamp = Timestamp::from_millis(1_764_403_400_000);

fn extract(reading: &EngineReading, text: &str) -> Extraction {
    let parsed = parse(text);
    extract_engine(reading, &Families::new(&parsed, SENT), &mut EngineMemory::default())
}

/// Attributes of a vLLM scrape, numbers and names as text.
fn vllm(text: &str) -> BTreeMap<String, String> {
    let reading = EngineReading { table: engine("vllm"), ..EngineReading::default() };
    let extraction = extract(&reading, text);
    extraction.facts.into_iter().map(|(attribute, sample)| (attribute.into_owned(), show(&sample))).collect()
}

fn show(sample: &Sample) -> String {
    match &sample.value {
        Value::Number(number) => f64::from(*number).to_string(),
        Value::Names(names) => names.join("|"),
    }
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let facts = vllm(text);
    let facts: Vec<_> = facts.iter().map(|(attribute, value)| (attribute.as_str(), value.as_str())).collect();
    assert_eq!(facts, expected, "{text}");
}

#[test]
fn one_engine() {
    let text = r#"
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="tiny-1b"} 5.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="tiny-1b"} 2.0
# TYPE vllm:num_requests_waiting_by_reason gauge
vllm:num_requests_waiting_by_reason{engine="0",model_name="tiny-1b",reason="capacity"} 2.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="tiny-1b"} 0.125
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="tiny-1b"} 8000.0
# TYPE vllm:prefix_cache_queries_created gauge
vllm:prefix_cache_queries_created{engine="0",model_name="tiny-1b"} 1.7644e+09
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="tiny-1b"} 2000.0
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",engine="0",num_cpu_blocks="None",num_gpu_blocks="1234"} 1.0
vllm:external_prefix_cache_hits_total{engine="0",model_name="tiny-1b"} 1.0
"#;
    check(
        text,
        &[
            ("CacheBlockSize", "16"),
            ("CacheNumBlocks", "1234"),
            ("KVCacheUsagePercent", "0.125"),
            ("PrefixCacheHitRate", "0.25"),
            ("RunningRequestsSize", "5"),
            ("ServedModels", "tiny-1b"),
            ("WaitingQueueSize", "2"),
        ],
    );
}

#[test]
fn of_the_adapters_the_latest_series_counts() {
    let text = r#"
vllm:lora_requests_info{max_lora="4",running_lora_adapters="",waiting_lora_adapters=""} 1764403300.5
vllm:lora_requests_info{max_lora="4",running_lora_adapters="poem, code,",waiting_lora_adapters="law"} 1.7644033605e+09
vllm:lora_requests_info{max_lora="4",running_lora_adapters="law",waiting_lora_adapters=""} 1764403340.25
"#;
    check(text, &[("ActiveModels", "code|poem"), ("MaxActiveModels", "4"), ("WaitingModels", "law")]);

    let idle = r#"
vllm:lora_requests_info{max_lora="0",running_lora_adapters="",waiting_lora_adapters=""} 1764403390.5
vllm:lora_requests_info{max_lora="2",running_lora_adapters="law",waiting_lora_adapters=""} NaN
vllm:lora_requests_info{max_lora="2",running_lora_adapters="code",waiting_lora_adapters=""} 0
"#;
    check(idle, &[("ActiveModels", ""), ("WaitingModels", "")]);
    check(r#"vllm:lora_requests_info{max_lora="2"} 1764403390.5"#, &[("MaxActiveModels", "2")]);
}

#[test]
fn older_names_are_read_unless_the_newer_ones_are_there() {
    let old = r#"
vllm:num_requests_swapped{model_name="m"} 1.0
vllm:gpu_cache_usage_perc{model_name="m"} 0.5
vllm:cpu_cache_usage_perc{model_name="m"} 0.9
vllm:gpu_prefix_cache_hit_rate{model_name="m"} 0.75
vllm:cpu_prefix_cache_hit_rate{model_name="m"} -1.0
"#;
    check(old, &[("KVCacheUsagePercent", "0.5"), ("PrefixCacheHitRate", "0.75"), ("ServedModels", "m")]);

    let both = r#"
vllm:gpu_cache_usage_perc 0.75
vllm:kv_cache_usage_perc 0.25
vllm:gpu_prefix_cache_hits_total 9
vllm:gpu_prefix_cache_queries_total 10
vllm:prefix_cache_hits_total 1
vllm:prefix_cache_queries_total 10
"#;
    check(both, &[("KVCacheUsagePercent", "0.25"), ("PrefixCacheHitRate", "0.1")]);
}

#[test]
fn ranks_are_summed_or_averaged_and_the_same_series_counts_once() {
    let text = r#"
vllm:num_requests_running{engine="0"} 10
vllm:num_requests_running{engine="1"} 3
vllm:num_requests_running{engine="1"} 3
vllm:kv_cache_usage_perc{engine="0"} 0.75
vllm:kv_cache_usage_perc{engine="1"} 0.25
vllm:cache_config_info{block_size="64",engine="0",num_gpu_blocks="100"} 1.0
vllm:cache_config_info{block_size="64",engine="1",num_gpu_blocks="150"} 1.0
vllm:prefix_cache_queries_total{engine="0"} 100
vllm:prefix_cache_queries_total{engine="1"} 300
vllm:prefix_cache_hits_total{engine="0"} 90
vllm:prefix_cache_hits_total{engine="1"} 10
"#;
    check(
        text,
        &[
            ("CacheBlockSize", "64"),
            ("CacheNumBlocks", "250"),
            ("KVCacheUsagePercent", "0.5"),
            ("PrefixCacheHitRate", "0.25"),
            ("RunningRequestsSize", "13"),
        ],
    );
}

#[test]
fn what_is_absent_or_damaged_is_missing_and_never_zero() {
    check(
        "process_resident_memory_bytes 8.5e+08\nvllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"90\"} 1\n",
        &[("CacheBlockSize", "16"), ("CacheNumBlocks", "90")],
    );
    check(
        "vllm:num_requests_running NaN\nvllm:num_requests_waiting -2\nvllm:kv_cache_usage_perc +Inf\n\
         vllm:cache_config_info{block_size=\"32\",num_gpu_blocks=\"None\"} 1\n",
        &[("CacheBlockSize", "32")],
    );
    check("vllm:kv_cache_usage_perc 55\nvllm:num_requests_waiting 1\n", &[("WaitingQueueSize", "1")]);
    check(
        "vllm:num_requests_waiting{engine=\"0\"} NaN\nvllm:num_requests_waiting{engine=\"1\"} 4\n\
         vllm:kv_cache_usage_perc{engine=\"0\"} NaN\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.5\n",
        &[("KVCacheUsagePercent", "0.5")],
    );
    check(
        "vllm:num_requests_waiting 0\nvllm:prefix_cache_queries_total 0\nvllm:prefix_cache_hits_total 0\n",
        &[("WaitingQueueSize", "0")],
    );
}

#[test]
fn a_counter_is_no_queue_length() {
    let reading = EngineReading { table: engine("vllm"), ..EngineReading::default() };
    for declared in ["# TYPE vllm:num_requests_waiting counter\n", ""] {
        let text = format!("vllm:num_requests_waiting 48211\n{declared}vllm:num_requests_running 2\n");
        let extraction = extract(&reading, &text);
        assert_eq!(extraction.facts.contains_key("WaitingQueueSize"), declared.is_empty());
        assert_eq!(extraction.notes.len(), usize::from(!declared.is_empty()), "{:?}", extraction.notes);
        assert!(extraction.facts.contains_key("RunningRequestsSize"));
    }
}

#[test]
fn an_unknown_engine_has_no_attribute_at_all() {
    let reading = EngineReading { table: engine("vllm"), ..EngineReading::default() };
    for reading in [reading, EngineReading::default()] {
        let extraction =
            extract(&reading, "acme:queue_depth{model=\"m\"} 40\nvllmx_num_requests_waiting 0\n");
        assert!(!extraction.recognised() && extraction.facts.is_empty(), "{extraction:?}");
    }
}

#[test]
fn a_label_may_hold_anything_and_a_sample_its_own_older_time() {
    let text = "vllm:num_requests_waiting{model_name=\"odd \\\"q\\\" } , # \\\\ 模型 \\n end\",} 2 1764403360.250\n\
                vllm:num_requests_running 1 1864403360.250\n\
                vllm:e2e_request_latency_seconds_bucket{le=\"0.3\"} 4 # {trace_id=\"a\"} 0.29 1764403359.9\n# EOF\n";
    let reading = EngineReading { table: engine("vllm"), ..EngineReading::default() };
    let facts = extract(&reading, text).facts;
    let time = |attribute: &str| facts.get(attribute).map(|sample| sample.measured_at.as_micros());
    assert_eq!(facts.get("ServedModels").map(show).as_deref(), Some("odd \"q\" } , # \\ 模型 \n end"));
    assert_eq!(time("WaitingQueueSize"), Some(1_764_403_360_250_000));
    assert_eq!(
        time("RunningRequestsSize"),
        Some(SENT.as_micros()),
        "a time ahead of the request is not believed"
    );
}

#[test]
fn a_hit_rate_is_that_of_the_window() {
    let at = Timestamp::from_millis;
    let mut rate = HitRate::default();
    let steps = [
        (0.0, 0.0, None, "no query yet"),
        (20.0, 100.0, Some((0.2, 1)), "all time"),
        (110.0, 200.0, Some((0.9, 2)), "the window"),
        (110.0, 200.0, Some((0.9, 2)), "nothing new: the old rate with its old time"),
        (5.0, 10.0, Some((0.5, 4)), "started anew"),
        (0.0, 0.0, None, "started anew without a query"),
        (3.0, 2.0, Some((1.0, 6)), "never above one"),
    ];
    for (index, (hits, queries, want, what)) in steps.into_iter().enumerate() {
        let now = at(u64::try_from(index).expect("small"));
        let want = want
            .map(|(rate, ms)| Sample { value: Value::number(rate).expect("finite"), measured_at: at(ms) });
        assert_eq!(rate.update(hits, queries, now), want, "{what}");
    }
}

#[test]
fn combining_follows_the_attribute_table() {
    let at = Timestamp::from_millis;
    let cells = [Cell::Value(6.0, at(5)), Cell::Value(3.0, at(4))];
    let cases = [
        ("WaitingQueueSize", Some((9.0, 4))),
        ("KVCacheUsagePercent", Some((4.5, 4))),
        ("GPUUtilization", Some((6.0, 4))),
        ("GPUMemoryFreeBytes", Some((3.0, 4))),
        ("SomethingElse", Some((6.0, 5))),
    ];
    for (attribute, want) in cases {
        let want = want.map(|(number, ms)| Sample {
            value: Value::number(number).expect("finite"),
            measured_at: at(ms),
        });
        assert_eq!(combine(attribute, cells), want, "{attribute}");
        assert_eq!(combine(attribute, []), None, "{attribute}");
        assert_eq!(combine(attribute, [Cell::Invalid]), None, "{attribute}");
    }
    let damaged = [Cell::Value(6.0, at(5)), Cell::Invalid];
    assert_eq!(combine("WaitingQueueSize", damaged), None, "a part of a sum is not the sum");
    assert!(combine("GPUUtilization", damaged).is_some());
}

#[test]
fn ranges_refuse_what_cannot_be() {
    let cases = [
        (Range::Fraction, 0.0, Some(0.0)),
        (Range::Fraction, 1.0, Some(1.0)),
        (Range::Fraction, 1.004, Some(1.0)),
        (Range::Fraction, 1.5, None),
        (Range::Percent, 55.0, Some(0.55)),
        (Range::Percent, 100.0, Some(1.0)),
        (Range::Percent, 73_112.0, None),
        (Range::NotNegative, 1e300, Some(1e300)),
        (Range::NotNegative, f64::INFINITY, None),
        (Range::NotNegative, -1.0, None),
        (Range::NotNegative, f64::NAN, None),
        (Range::Percent, f64::NAN, None),
    ];
    for (range, value, want) in cases {
        assert_eq!(range.check(value), want, "{range:?} {value}");
    }
}

#[test]
fn a_rate_is_taken_over_a_second_or_more() {
    let at = Timestamp::from_millis;
    let mut rate = Rate::default();
    let steps = [
        (100.0, 0, None, "nothing to compare with"),
        (150.0, 400, None, "not long enough"),
        (300.0, 1_000, Some((200.0, 1_000)), "the window is full"),
        (400.0, 1_500, Some((200.0, 1_000)), "the last rate with its own time"),
        (200.0, 3_000, None, "started anew"),
        (200.0, 4_000, Some((0.0, 4_000)), "nothing came"),
        (400.0, 3_500, None, "the clock was set back"),
    ];
    for (total, ms, want, what) in steps {
        let want = want
            .map(|(rate, ms)| Sample { value: Value::number(rate).expect("finite"), measured_at: at(ms) });
        assert_eq!(rate.update(total, at(ms)), want, "{what}");
    }
}

#[test]
fn token_rates_are_sums_over_ranks() {
    let text = |first: u32| {
        format!(
            "vllm:generation_tokens_total{{engine=\"0\"}} {first}\nvllm:generation_tokens_total{{engine=\"1\"}} 50\n"
        )
    };
    let mut memory = EngineMemory::default();
    let mut read = |text: &str, ms: u64| {
        let parsed = parse(text);
        let families = Families::new(&parsed, Timestamp::from_millis(ms));
        let facts = extract_engine(&EngineReading::default(), &families, &mut memory).facts;
        facts.get("GenerationTokenRate").map(show)
    };
    assert_eq!(read(&text(100), 1_000), None);
    assert_eq!(read(&text(700), 3_000).as_deref(), Some("300"));
}

#[test]
fn gauges_that_stand_still_under_load_are_not_measured_any_more() {
    let mut memory = EngineMemory::default();
    let mut read = |running: u32, tokens: u32, seconds: u64| {
        let text = format!(
            "vllm:num_requests_running {running}\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0.93\n\
             vllm:generation_tokens_total {tokens}\n"
        );
        let parsed = parse(&text);
        let families = Families::new(&parsed, Timestamp::from_millis(seconds * 1_000));
        let extraction = extract_engine(&EngineReading::default(), &families, &mut memory);
        let sample = extraction.facts.get("KVCacheUsagePercent").expect("a value");
        (sample.measured_at.as_micros() / 1_000_000, extraction.notes)
    };
    for (running, tokens, seconds) in [(88, 100, 0), (88, 200, 1), (88, 200, 2), (88, 200, 31)] {
        assert_eq!(read(running, tokens, seconds), (seconds, Vec::new()), "{seconds}: not still for long");
    }
    let (measured_at, notes) = read(88, 200, 60);
    assert_eq!(measured_at, 2);
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.starts_with("running 88 and waiting 0, but nothing has moved for 58 s"), "{note}");
    assert_eq!(read(88, 201, 61), (61, Vec::new()), "it works again");
    for seconds in [62, 63, 200] {
        assert_eq!(read(0, 201, seconds), (seconds, Vec::new()), "an idle engine may stand still");
    }
}

#[test]
fn two_engines_in_one_scrape_are_pointed_out() {
    let text = "tgi_queue_size 1\nvllm:num_requests_waiting 3\nvllm:num_requests_running 2\n";
    let extraction = extract(&EngineReading::default(), text);
    assert_eq!(extraction.engine, Some("vllm"));
    assert_eq!(
        extraction.notes,
        ["read as vllm, but there are metrics of tgi too; say which engine it is where that is wrong"]
    );
    let tgi = EngineReading { table: engine("text-generation-inference"), ..EngineReading::default() };
    let extraction = extract(&tgi, text);
    assert_eq!((extraction.engine, extraction.notes.len()), (Some("tgi"), 0));
    assert_eq!(extraction.facts.get("WaitingQueueSize").map(show).as_deref(), Some("1"));
}

fn custom(attribute: &str, metric: &str) -> Custom {
    Custom {
        attribute: attribute.into(),
        metric: metric.to_owned(),
        matching: BTreeMap::new(),
        aggregate: Combine::Sum,
        scale: 1.0,
        possible: f64::MIN..=f64::MAX,
        rate: false,
    }
}

#[test]
fn custom_attributes_are_read_beside_and_in_place_of_the_tables() {
    let text = "# TYPE acme:done counter\nacme:done 100\nacme:depth{lane=\"a\"} 4\nacme:depth{lane=\"b\"} 6\n\
                acme:depth{lane=\"c\",old=\"1\"} 9\nacme:used_percent 55\nvllm:num_requests_waiting 1\n";
    let reading = |custom: Vec<Custom>| EngineReading { custom: custom.into(), ..EngineReading::default() };
    let get = |custom: Custom| {
        let attribute = custom.attribute.to_string();
        let extraction = extract(&reading(vec![custom]), text);
        (extraction.facts.get(attribute.as_str()).map(show), extraction.notes)
    };
    let value = |text: &str| (Some(text.to_owned()), Vec::new());
    assert_eq!(get(custom("Depth", "acme:depth")), value("19"));
    assert_eq!(get(custom("WaitingQueueSize", "acme:depth")), value("19"), "in place of vLLM's");
    let matching = [("old".to_owned(), "1".to_owned())].into();
    assert_eq!(get(Custom { matching, ..custom("Depth", "acme:depth") }), value("9"));
    assert_eq!(get(Custom { aggregate: Combine::Max, ..custom("Depth", "acme:depth") }), value("9"));
    let fraction =
        Custom { scale: 0.01, possible: 0.0..=1.0, ..custom("KVCacheUsagePercent", "acme:used_percent") };
    assert_eq!(get(fraction.clone()).0.as_deref(), Some("0.55"));
    let (missing, notes) = get(Custom { scale: 1.0, ..fraction });
    assert_eq!(missing, None);
    assert_eq!(
        notes,
        ["acme:used_percent has a value that KVCacheUsagePercent cannot have, and it is not used"]
    );
    let (missing, notes) = get(custom("Done", "acme:done"));
    assert_eq!(missing, None);
    assert!(notes.iter().any(|note| note.starts_with("acme:done is declared a counter")), "{notes:?}");
    assert_eq!(get(custom("Depth", "acme:nothing")), (None, Vec::new()));

    let rate = reading(vec![Custom { rate: true, ..custom("DoneRate", "acme:done") }]);
    let mut memory = EngineMemory::default();
    let mut done = |total: &str, ms| {
        let text = text.replace("acme:done 100", &format!("acme:done {total}"));
        let parsed = parse(&text);
        let families = Families::new(&parsed, Timestamp::from_millis(ms));
        extract_engine(&rate, &families, &mut memory).facts.get("DoneRate").map(show)
    };
    assert_eq!(done("100", 1_000), None);
    assert_eq!(done("130", 3_000).as_deref(), Some("15"));
}

#[test]
fn what_the_config_knows_wins_and_the_difference_is_shown() {
    let fixed = |number: f64| EngineReading {
        fixed: Arc::new([("CacheBlockSize".to_owned(), Value::number(number).expect("finite"))].into()),
        ..EngineReading::default()
    };
    let text = "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"9\"} 1\n";
    let extraction = extract(&fixed(528.0), text);
    assert_eq!(extraction.facts.get("CacheBlockSize").map(show).as_deref(), Some("528"));
    assert_eq!(extraction.notes, ["CacheBlockSize is 528 by the config, and 16 in the scrape"]);
    assert_eq!(extract(&fixed(16.0), text).notes, [""; 0]);
    assert!(extract(&fixed(16.0), "acme:depth 1\n").facts.is_empty(), "nothing is known of a stranger");
}

#[test]
fn a_list_of_models_gives_names_and_the_shortest_context() {
    let list = r#"{"object": "list", "data": [
        {"id": "qwen", "max_model_len": 32768, "parent": null},
        {"id": "qwen-long", "max_model_len": 131072},
        {"id": "sql", "parent": "qwen", "max_model_len": 8}
    ]}"#;
    let facts = extract_models(list, SENT).expect("a list");
    let shown: Vec<_> =
        facts.iter().map(|(attribute, sample)| format!("{attribute}={}", show(sample))).collect();
    assert_eq!(shown, ["MaxModelLen=32768", "ServedModels=qwen|qwen-long|sql"]);
    assert_eq!(extract_models(r#"{"data": [{"id": "m"}]}"#, SENT).expect("a list").len(), 1);
    assert!(extract_models(r#"{"data": []}"#, SENT).expect("a list").is_empty());
    assert!(extract_models("<html>", SENT).is_err());
}
