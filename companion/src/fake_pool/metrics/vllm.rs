//! An engine's metrics under vLLM's names.

use super::text::Text;
use crate::fake_pool::{endpoint::Endpoint, engine::Stats};

/// The metrics of an endpoint. `silent` leaves out what an engine writes after its first step.
pub(crate) fn vllm(endpoint: &Endpoint, silent: bool) -> String {
    let mut text = Text::default();
    cache_config(&mut text, endpoint);
    if silent {
        return text.finish();
    }
    let (running, waiting, kv_usage, stats) = {
        let state = endpoint.state();
        let engine = &state.engine;
        (engine.running(), engine.waiting(), engine.kv_usage(), engine.stats().clone())
    };
    let model = endpoint.models.first().map_or("", String::as_str);
    let labels = &[("engine", "0"), ("model_name", model)];
    let gauges = [
        ("vllm:num_requests_running", "Number of requests in model execution batches.", running as f64),
        ("vllm:num_requests_waiting", "Number of requests waiting to be processed.", waiting as f64),
        ("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", kv_usage),
    ];
    for (name, help, value) in gauges {
        text.one(name, "gauge", help, labels, value);
    }
    counters(&mut text, labels, &stats);
    time_to_first_token(&mut text, labels, &stats);
    text.finish()
}

fn cache_config(text: &mut Text, endpoint: &Endpoint) {
    let block_size = endpoint.limits.block_size.to_string();
    let blocks = endpoint.limits.kv_blocks.to_string();
    text.one(
        "vllm:cache_config_info",
        "gauge",
        "Information of the LLMEngine CacheConfig",
        &[
            ("block_size", &block_size),
            ("enable_prefix_caching", "True"),
            ("engine", "0"),
            ("num_gpu_blocks", &blocks),
        ],
        1,
    );
}

fn counters(text: &mut Text, labels: &[(&str, &str)], stats: &Stats) {
    let counters = [
        ("vllm:prefix_cache_queries_total", "Prefix cache queries, in tokens.", stats.prefix_queries),
        ("vllm:prefix_cache_hits_total", "Prefix cache hits, in tokens.", stats.prefix_hits),
        ("vllm:prompt_tokens_total", "Number of prefill tokens processed.", stats.prompt_tokens),
        ("vllm:generation_tokens_total", "Number of generation tokens processed.", stats.generation_tokens),
        ("vllm:num_preemptions_total", "Cumulative number of preemptions.", stats.preemptions),
    ];
    for (name, help, value) in counters {
        text.one(name, "counter", help, labels, value);
    }
    let name = "vllm:request_success_total";
    text.family(name, "counter", "Count of successfully processed requests.");
    for (reason, count) in
        [("abort", stats.aborted), ("length", stats.reached_length), ("stop", stats.stopped)]
    {
        text.sample(name, &with(labels, "finished_reason", reason), count);
    }
}

fn time_to_first_token(text: &mut Text, labels: &[(&str, &str)], stats: &Stats) {
    let histogram = &stats.time_to_first_token;
    let name = "vllm:time_to_first_token_seconds";
    text.family(name, "histogram", "Histogram of time to first token in seconds.");
    let bucket = format!("{name}_bucket");
    for (bound, count) in histogram.buckets() {
        text.sample(&bucket, &with(labels, "le", &bound.to_string()), count);
    }
    text.sample(&bucket, &with(labels, "le", "+Inf"), histogram.count());
    text.sample(&format!("{name}_count"), labels, histogram.count());
    text.sample(&format!("{name}_sum"), labels, histogram.sum());
}

fn with<'a>(labels: &[(&'a str, &'a str)], name: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    labels.iter().copied().chain([(name, value)]).collect()
}
