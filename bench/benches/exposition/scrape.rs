//! A scrape made up from a seed: a model server with eight engines and the GPUs of its node, in the form
//! in which their exporters write.

use std::fmt::Write as _;

use headroom_bench::dice::Dice;

/// A label value that needs every escape there is, as it reads and as it is written.
pub(crate) const ESCAPED: (&str, &str) = ("say \"hi\" } , # \\ 模型\n", r#"say \"hi\" } , # \\ 模型\n"#);

const MODEL: &str = "meta-llama/Llama-3.3-70B-Instruct";
const GAUGES: &[&str] = &["num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"];
const COUNTERS: &[&str] =
    &["prompt_tokens", "generation_tokens", "prefix_cache_queries", "prefix_cache_hits", "num_preemptions"];
const HISTOGRAMS: &[&str] = &[
    "time_to_first_token_seconds",
    "inter_token_latency_seconds",
    "e2e_request_latency_seconds",
    "request_queue_time_seconds",
    "request_prefill_time_seconds",
    "request_decode_time_seconds",
    "request_inference_time_seconds",
    "request_prompt_tokens",
    "request_generation_tokens",
    "request_params_max_tokens",
    "iteration_tokens_total",
];
const BUCKETS: &[&str] = &[
    "0.001", "0.005", "0.01", "0.02", "0.04", "0.06", "0.08", "0.1", "0.25", "0.5", "0.75", "1.0", "2.5",
    "5.0", "7.5", "10.0", "20.0", "40.0", "80.0", "160.0", "640.0", "2560.0", "+Inf",
];
const DCGM: &[&str] = &[
    "DEV_SM_CLOCK",
    "DEV_MEM_CLOCK",
    "DEV_MEMORY_TEMP",
    "DEV_GPU_TEMP",
    "DEV_POWER_USAGE",
    "DEV_TOTAL_ENERGY_CONSUMPTION",
    "DEV_PCIE_REPLAY_COUNTER",
    "DEV_GPU_UTIL",
    "DEV_MEM_COPY_UTIL",
    "DEV_ENC_UTIL",
    "DEV_DEC_UTIL",
    "DEV_XID_ERRORS",
    "DEV_FB_FREE",
    "DEV_FB_USED",
    "DEV_NVLINK_BANDWIDTH_TOTAL",
    "PROF_GR_ENGINE_ACTIVE",
    "PROF_PIPE_TENSOR_ACTIVE",
    "PROF_DRAM_ACTIVE",
    "PROF_PCIE_TX_BYTES",
    "PROF_PCIE_RX_BYTES",
];

/// A scrape of `lines` lines.
pub(crate) fn scrape(seed: u64, lines: usize) -> String {
    let mut scrape = Scrape { text: String::new(), dice: Dice::new(seed) };
    scrape.special();
    for name in GAUGES {
        scrape.numbers("gauge", name, "");
    }
    for name in COUNTERS {
        scrape.numbers("counter", name, "_total");
        scrape.numbers("gauge", &format!("{name}_created"), "");
    }
    for name in HISTOGRAMS {
        scrape.histogram(name);
        scrape.numbers("gauge", &format!("{name}_created"), "");
    }
    // A family is one group of lines, however many nodes it takes to fill the scrape.
    let missing = lines.saturating_sub(scrape.text.lines().count());
    let nodes = missing / (DCGM.len() * 8) + 1;
    for name in DCGM {
        scrape.gpus(nodes, name);
    }
    scrape.text.split_inclusive('\n').take(lines).collect()
}

struct Scrape {
    text: String,
    dice: Dice,
}

impl Scrape {
    fn family(&mut self, kind: &str, name: &str) {
        let _ =
            writeln!(self.text, "# HELP {name} What {name} is about, in a sentence.\n# TYPE {name} {kind}");
    }

    /// What is there once: escapes, an exponent, `NaN` and infinity.
    fn special(&mut self) {
        self.family("gauge", "vllm:lora_requests_info");
        let _ = writeln!(
            self.text,
            "vllm:lora_requests_info{{max_lora=\"4\",running_lora_adapters=\"{}\",waiting_lora_adapters=\"\"}} \
             1.7644033602501232e+09",
            ESCAPED.1,
        );
        self.family("gauge", "process_limits");
        for (kind, value) in [("open_fds", "1.048576e+06"), ("memory", "+Inf"), ("unknown", "NaN")] {
            let _ = writeln!(self.text, "process_limits{{kind=\"{kind}\"}} {value}");
        }
    }

    fn numbers(&mut self, kind: &str, name: &str, suffix: &str) {
        self.family(kind, &format!("vllm:{name}{suffix}"));
        for engine in 0..8 {
            let value = match kind {
                "counter" => format!("{}.0", self.dice.below(100_000_000)),
                _ if name.ends_with("_created") => format!("1.76440336{}e+09", self.dice.below(10_000_000)),
                _ => format!("{}", self.dice.share()),
            };
            let _ = writeln!(
                self.text,
                "vllm:{name}{suffix}{{engine=\"{engine}\",model_name=\"{MODEL}\"}} {value}"
            );
        }
    }

    fn histogram(&mut self, name: &str) {
        self.family("histogram", &format!("vllm:{name}"));
        for engine in 0..8 {
            let labels = format!("engine=\"{engine}\",model_name=\"{MODEL}\"");
            let mut count = 0;
            for bucket in BUCKETS {
                count += self.dice.below(1_000);
                let _ = writeln!(
                    self.text,
                    "vllm:{name}_bucket{{engine=\"{engine}\",le=\"{bucket}\",model_name=\"{MODEL}\"}} {count}.0"
                );
            }
            let sum = self.dice.share() * 10_000.0;
            let _ = writeln!(self.text, "vllm:{name}_count{{{labels}}} {count}.0");
            let _ = writeln!(self.text, "vllm:{name}_sum{{{labels}}} {sum}");
        }
    }

    fn gpus(&mut self, nodes: usize, name: &str) {
        self.family("gauge", &format!("DCGM_FI_{name}"));
        for (node, gpu) in (0..nodes).flat_map(|node| (0..8).map(move |gpu| (node, gpu))) {
            let value = if name.starts_with("PROF") {
                format!("{:.6}", self.dice.share())
            } else {
                self.dice.below(80_000).to_string()
            };
            let _ = writeln!(
                self.text,
                "DCGM_FI_{name}{{gpu=\"{gpu}\",UUID=\"GPU-{node:08x}-4b1c-9f0a-77d2-{gpu:012x}\",\
                 pci_bus_id=\"00000000:{:02X}:00.0\",device=\"nvidia{gpu}\",modelName=\"NVIDIA H100 80GB HBM3\",\
                 Hostname=\"gpu-node-{node}\",DCGM_FI_DRIVER_VERSION=\"550.90.07\",container=\"vllm\",\
                 namespace=\"inference\",pod=\"vllm-llama-70b-{node}-{gpu}\"}} {value}",
                0x1b + gpu,
            );
        }
    }
}
