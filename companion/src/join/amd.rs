//! AMD's device metrics exporter. Source: `docs/configuration/metricslist.md` of ROCm/device-metrics-exporter, whose
//! "MB" are of 2^20 bytes.

use headroom_datalayer::well_known::GPU_UTILIZATION;

use super::table::{ExporterTable, MIB, amount, percent};

/// The metrics of the device metrics exporter.
pub(super) const TABLE: ExporterTable = ExporterTable {
    name: "AMD device metrics exporter",
    // The largest number of an unsigned 32-bit field, which AMD SMI gives for "not supported".
    blank: 4_294_967_295.0,
    rows: &[
        percent("gpu_gfx_activity", GPU_UTILIZATION),
        percent("gpu_umc_activity", "DRAMActive"),
        amount("gpu_used_vram", "GPUMemoryUsedBytes", MIB),
        amount("gpu_free_vram", "GPUMemoryFreeBytes", MIB),
        amount("gpu_total_vram", "GPUMemoryTotalBytes", MIB),
        amount("gpu_package_power", "GPUPowerWatts", 1.0),
        amount("gpu_average_package_power", "GPUPowerWatts", 1.0),
        amount("gpu_power_usage", "GPUPowerWatts", 1.0),
        amount("gpu_junction_temperature", "GPUTemperatureCelsius", 1.0),
        amount("gpu_edge_temperature", "GPUTemperatureCelsius", 1.0),
    ],
};
