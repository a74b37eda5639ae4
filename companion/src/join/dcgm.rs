//! What dcgm-exporter calls its metrics.

use headroom_datalayer::well_known::GPU_UTILIZATION;

use crate::extract::Range;

/// DCGM writes "no value" as one of the largest numbers of the field's type; the smallest of these is
/// `DCGM_INT32_BLANK`, and no field read here ever has a true value that large.
pub(super) const BLANK: f64 = 2_147_483_632.0;

/// The label that tells MIG slices of one card apart.
pub(super) const SLICE_LABEL: &str = "GPU_I_ID";

/// Bytes in the MiB that DCGM reports framebuffer in.
const MIB: f64 = 1_048_576.0;

/// How one attribute is found.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) metric: &'static str,
    pub(super) attribute: &'static str,
    pub(super) range: Range,
    /// Factor to the attribute's unit.
    pub(super) scale: f64,
    /// Whether the metric means anything on a card that is cut into MIG slices.
    pub(super) on_mig: bool,
}

const fn fraction(metric: &'static str, attribute: &'static str) -> Row {
    Row { metric, attribute, range: Range::Fraction, scale: 1.0, on_mig: true }
}

const fn amount(metric: &'static str, attribute: &'static str, scale: f64) -> Row {
    Row { metric, attribute, range: Range::NotNegative, scale, on_mig: true }
}

/// Metric to attribute. Where several rows give the same attribute, the first one that a GPU has a
/// value for counts.
pub(super) const ROWS: &[Row] = &[
    fraction("DCGM_FI_PROF_GR_ENGINE_ACTIVE", GPU_UTILIZATION),
    Row {
        metric: "DCGM_FI_DEV_GPU_UTIL",
        attribute: GPU_UTILIZATION,
        range: Range::Percent,
        scale: 1.0,
        on_mig: false,
    },
    fraction("DCGM_FI_PROF_SM_ACTIVE", "SMActive"),
    fraction("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "TensorActive"),
    fraction("DCGM_FI_PROF_DRAM_ACTIVE", "DRAMActive"),
    amount("DCGM_FI_DEV_FB_USED", "GPUMemoryUsedBytes", MIB),
    amount("DCGM_FI_DEV_FB_FREE", "GPUMemoryFreeBytes", MIB),
    amount("DCGM_FI_DEV_FB_TOTAL", "GPUMemoryTotalBytes", MIB),
    amount("DCGM_FI_DEV_POWER_USAGE", "GPUPowerWatts", 1.0),
    amount("DCGM_FI_DEV_GPU_TEMP", "GPUTemperatureCelsius", 1.0),
];
