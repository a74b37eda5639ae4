//! dcgm-exporter. Sources: `etc/default-counters.csv` and `etc/1.x-compatibility-metrics.csv` of NVIDIA/dcgm-exporter,
//! `dcgm_fields.h` and the blank values in `dcgm_structs.h` of NVIDIA/DCGM.

use headroom_datalayer::well_known::GPU_UTILIZATION;

use super::table::{ExporterTable, MIB, amount, fraction, percent};

/// The metrics of dcgm-exporter, the first generation's in lower case.
pub(super) const TABLE: ExporterTable = ExporterTable {
    name: "dcgm-exporter",
    // DCGM writes "no value" as one of the largest numbers of the field's type; the smallest of these is
    // DCGM_INT32_BLANK, and no field read here ever has a true value that large.
    blank: 2_147_483_632.0,
    rows: &[
        fraction("DCGM_FI_PROF_GR_ENGINE_ACTIVE", GPU_UTILIZATION),
        fraction("dcgm_fi_prof_gr_engine_active", GPU_UTILIZATION),
        percent("DCGM_FI_DEV_GPU_UTIL", GPU_UTILIZATION).on_whole_cards(),
        percent("dcgm_gpu_utilization", GPU_UTILIZATION).on_whole_cards(),
        fraction("DCGM_FI_PROF_SM_ACTIVE", "SMActive"),
        fraction("dcgm_fi_prof_sm_active", "SMActive"),
        fraction("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "TensorActive"),
        fraction("dcgm_fi_prof_pipe_tensor_active", "TensorActive"),
        fraction("DCGM_FI_PROF_DRAM_ACTIVE", "DRAMActive"),
        fraction("dcgm_fi_prof_dram_active", "DRAMActive"),
        amount("DCGM_FI_DEV_FB_USED", "GPUMemoryUsedBytes", MIB),
        amount("dcgm_fb_used", "GPUMemoryUsedBytes", MIB),
        amount("DCGM_FI_DEV_FB_FREE", "GPUMemoryFreeBytes", MIB),
        amount("dcgm_fb_free", "GPUMemoryFreeBytes", MIB),
        amount("DCGM_FI_DEV_FB_RESERVED", "GPUMemoryReservedBytes", MIB),
        amount("DCGM_FI_DEV_FB_TOTAL", "GPUMemoryTotalBytes", MIB),
        amount("DCGM_FI_DEV_POWER_USAGE", "GPUPowerWatts", 1.0),
        amount("dcgm_power_usage", "GPUPowerWatts", 1.0),
        amount("DCGM_FI_DEV_GPU_TEMP", "GPUTemperatureCelsius", 1.0),
        amount("dcgm_gpu_temp", "GPUTemperatureCelsius", 1.0),
        amount("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "GPUThrottleReasons", 1.0),
        amount("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "GPUThrottleReasons", 1.0),
        amount("DCGM_FI_DEV_XID_ERRORS", "GPUXidErrors", 1.0),
        amount("dcgm_xid_errors", "GPUXidErrors", 1.0),
    ],
};
