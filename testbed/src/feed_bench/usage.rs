//! What a process has used, by `/proc`.

use std::time::Duration;

use anyhow::Context;

/// Processor time of a process so far, user and system.
pub(crate) fn processor_time(id: u32) -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name in parentheses may hold blanks; the fields after it do not.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u32>().ok());
    let (user, system) = (ticks(11).context("no user time")?, ticks(12).context("no system time")?);
    Ok(Duration::from_secs(1) * (user + system) / rustix::param::clock_ticks_per_second().try_into()?)
}

/// The most memory that a process has held so far, in MiB.
pub(crate) fn peak_memory(id: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: u64 = line.split_whitespace().next().context("no number")?.parse()?;
    Ok(kib / 1024)
}
