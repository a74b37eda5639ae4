//! The GPUs of the pool as dcgm-exporter writes them.

use super::text::Text;
use crate::fake_pool::pool::Pool;

const MODEL: &str = "NVIDIA H100 80GB HBM3";
/// Weights and the KV cache are allocated at the start, this fraction of the memory.
const MEMORY_USED: f64 = 0.9;
const IDLE_WATTS: f64 = 90.0;
const BUSY_WATTS: f64 = 610.0;
const IDLE_CELSIUS: f64 = 35.0;
const BUSY_CELSIUS: f64 = 40.0;

/// One GPU at one moment.
struct Card<'a> {
    labels: [(&'static str, &'a str); 6],
    utilization: f64,
    memory_mib: f64,
}

/// A metric: its name, its help, and its value.
type Field = (&'static str, &'static str, fn(&Card<'_>) -> String);

const FIELDS: [Field; 6] = [
    ("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", |card| whole(card.utilization * 100.0)),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", |card| {
        format!("{:.6}", card.utilization)
    }),
    ("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", |card| whole(card.used_mib())),
    ("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", |card| {
        whole(card.memory_mib - card.used_mib())
    }),
    ("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", |card| {
        format!("{:.6}", IDLE_WATTS + card.utilization * BUSY_WATTS)
    }),
    ("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", |card| {
        whole(IDLE_CELSIUS + card.utilization * BUSY_CELSIUS)
    }),
];

impl Card<'_> {
    fn used_mib(&self) -> f64 {
        (self.memory_mib * MEMORY_USED).round()
    }
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// The metrics of every GPU.
pub(crate) fn dcgm(pool: &Pool) -> String {
    let named: Vec<_> = pool
        .endpoints
        .iter()
        .map(|endpoint| {
            let index = endpoint.gpu.index;
            let names = (index.to_string(), format!("00000000:{index:02X}:00.0"), format!("nvidia{index}"));
            (endpoint, names)
        })
        .collect();
    let cards: Vec<_> = named
        .iter()
        .map(|(endpoint, (index, bus, device))| Card {
            labels: [
                ("gpu", index),
                ("UUID", &endpoint.gpu.uuid),
                ("pci_bus_id", bus),
                ("device", device),
                ("modelName", MODEL),
                ("Hostname", &pool.hostname),
            ],
            utilization: endpoint.state().engine.gpu_utilization(endpoint.now()),
            memory_mib: f64::from(endpoint.gpu.memory_mib),
        })
        .collect();
    let mut text = Text::default();
    for (name, help, value) in FIELDS {
        text.family(name, "gauge", help);
        for card in &cards {
            text.sample(name, &card.labels, value(card));
        }
    }
    text.finish()
}
