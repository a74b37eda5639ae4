//! A decision as one line, to the last bit.

use std::fmt::Write as _;

use headroom_scheduling::{
    Context, Decision, Detail, Excluded, Explanation, Fallback, Finding, Outcome, Schedule, Scheduler,
};

/// The words of a line, after the plugin types: the outcome, what each profile found, the effects, and a
/// hash of the explanation.
///
/// # Errors
/// When the explanation is no JSON.
pub fn describe(schedule: &Schedule, scheduler: &Scheduler, cx: &Context<'_>) -> anyhow::Result<String> {
    let mut line = match &schedule.outcome {
        Outcome::Placed { run, order } => format!("placed={run}:{order:?}"),
        Outcome::Rejected { run, rejection } => format!("rejected={run}:{rejection:?}"),
        Outcome::NoProfile { reason } => format!("noProfile={reason:?}"),
    };
    for run in &schedule.runs {
        write!(line, " run={}", run.profile)?;
        decision(&mut line, &run.decision)?;
    }
    write!(line, " effects={:?}", schedule.effects)?;
    let explanation = Explanation::new(schedule, scheduler, cx, Detail::FULL);
    write!(line, " explanation={:016x}", hash(&serde_json::to_vec(&explanation)?))?;
    Ok(line)
}

fn decision(line: &mut String, decision: &Decision) -> std::fmt::Result {
    match &decision.outcome {
        Ok(order) => write!(line, " order={order:?}")?,
        Err(rejection) => write!(line, " none={rejection:?}")?,
    }
    for Excluded { endpoint, filter, excess, .. } in &decision.excluded {
        write!(line, " excluded={endpoint}/{filter}/{:016x}", excess.map_or(u64::MAX, f64::to_bits))?;
    }
    for undecided in &decision.undecided {
        write!(line, " undecided={}/{}", undecided.endpoint, undecided.filter)?;
    }
    for used in &decision.fallbacks {
        fallback(line, used)?;
    }
    for candidate in &decision.candidates {
        write!(line, " candidate={}:{:016x}", candidate.endpoint, candidate.total.to_bits())?;
        for opinion in &candidate.opinions {
            write!(line, ",{:016x}", opinion.score.get().to_bits())?;
        }
    }
    Ok(())
}

fn fallback(line: &mut String, fallback: &Fallback) -> std::fmt::Result {
    match fallback {
        Fallback::LeastBad { filter, kept } => write!(line, " fallback=leastBad/{filter}/{kept:?}"),
        Fallback::MetricsMissing { filter } => write!(line, " fallback=metricsMissing/{filter}"),
        Fallback::Probe { endpoint, finding } => match finding {
            Finding::Unmeasured { scorer, why } => {
                write!(line, " fallback=probeUnmeasured/{endpoint}/{scorer}/{why:?}")
            }
            Finding::LoadWithoutRequests { scorer, requests } => {
                write!(line, " fallback=probeLoad/{endpoint}/{scorer}/{:016x}", requests.to_bits())
            }
        },
    }
}

/// 64-bit FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
