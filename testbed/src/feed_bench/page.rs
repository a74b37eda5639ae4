//! Metrics pages of the size and shape of real ones.

use std::fmt::Write;

/// A vLLM page: some gauges and counters, and histograms with many buckets.
pub(crate) fn engine(endpoint: usize, tick: u64) -> String {
    let labels = format!("engine=\"0\",model_name=\"qwen3-{endpoint}\"");
    let mut page = String::with_capacity(24 << 10);
    let mut gauge = |name: &str, value: f64| {
        let _infallible = write!(
            page,
            "# HELP vllm:{name} One of the gauges that the engine writes on each step.\n# TYPE vllm:{name} gauge\n\
             vllm:{name}{{{labels}}} {value}\n"
        );
    };
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let tick_number = tick as f64;
    gauge("num_requests_running", 1.0 + tick_number % 60.0);
    gauge("num_requests_waiting", tick_number % 7.0);
    gauge("kv_cache_usage_perc", (tick_number % 97.0) / 100.0);
    let _infallible = write!(
        page,
        "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{{block_size=\"16\",cache_dtype=\"auto\",\
         engine=\"0\",gpu_memory_utilization=\"0.9\",num_gpu_blocks=\"27561\"}} 1.0\n"
    );
    for counter in
        ["prompt_tokens", "generation_tokens", "prefix_cache_queries", "prefix_cache_hits", "num_preemptions"]
    {
        let _infallible = write!(
            page,
            "# HELP vllm:{counter}_total A total.\n# TYPE vllm:{counter}_total counter\n\
             vllm:{counter}_total{{{labels}}} {}.0\n",
            tick * 1_000
        );
    }
    for histogram in [
        "time_to_first_token_seconds",
        "time_per_output_token_seconds",
        "e2e_request_latency_seconds",
        "request_queue_time_seconds",
        "request_prefill_time_seconds",
        "request_decode_time_seconds",
        "request_prompt_tokens",
        "request_generation_tokens",
    ] {
        let _infallible =
            write!(page, "# HELP vllm:{histogram} A histogram.\n# TYPE vllm:{histogram} histogram\n");
        for bucket in 0..22 {
            let _infallible = writeln!(
                page,
                "vllm:{histogram}_bucket{{{labels},le=\"{}\"}} {}.0",
                1 << bucket,
                tick * bucket
            );
        }
        let _infallible = write!(
            page,
            "vllm:{histogram}_count{{{labels}}} {tick}.0\nvllm:{histogram}_sum{{{labels}}} {tick}.5\n"
        );
    }
    page
}

/// The UUID of one of an exporter's GPUs.
pub(crate) fn uuid(exporter: usize, gpu: usize) -> String {
    format!("GPU-{exporter:08x}-51c2-4d7e-9a10-{gpu:012x}")
}

/// A dcgm-exporter page of eight GPUs.
pub(crate) fn exporter(exporter: usize, tick: u64) -> String {
    let mut page = String::with_capacity(40 << 10);
    for field in [
        "DEV_GPU_UTIL",
        "DEV_MEM_COPY_UTIL",
        "DEV_SM_CLOCK",
        "DEV_MEM_CLOCK",
        "DEV_GPU_TEMP",
        "DEV_MEMORY_TEMP",
        "DEV_POWER_USAGE",
        "DEV_TOTAL_ENERGY_CONSUMPTION",
        "DEV_PCIE_REPLAY_COUNTER",
        "DEV_XID_ERRORS",
        "DEV_FB_FREE",
        "DEV_FB_USED",
        "DEV_FB_RESERVED",
        "DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "PROF_GR_ENGINE_ACTIVE",
        "PROF_PIPE_TENSOR_ACTIVE",
        "PROF_DRAM_ACTIVE",
    ] {
        let _infallible =
            write!(page, "# HELP DCGM_FI_{field} One of the fields.\n# TYPE DCGM_FI_{field} gauge\n");
        for gpu in 0..8 {
            let value = if field.starts_with("PROF") {
                format!("0.{:06}", tick % 999_999)
            } else {
                (tick % 90).to_string()
            };
            let _infallible = writeln!(
                page,
                "DCGM_FI_{field}{{gpu=\"{gpu}\",UUID=\"{}\",pci_bus_id=\"00000000:{gpu:02X}:00.0\",device=\"nvidia{gpu}\",\
                 modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"node-{exporter}\",DCGM_FI_DRIVER_VERSION=\"570.86.15\"}} {value}",
                uuid(exporter, gpu)
            );
        }
    }
    page
}
