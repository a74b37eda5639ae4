//! How often and how long targets are scraped.

use std::time::Duration;

use headroom_datalayer::{Span, attribute_info, well_known};

use super::{ConfigErrors, Scrape, error::quoted, raw};

/// The shortest interval and timeout.
const SHORTEST: Duration = Duration::from_millis(10);
/// The longest interval and back-off.
const LONGEST: Duration = Duration::from_secs(300);

/// The time between two scrapes, by what is scraped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Intervals {
    pub(super) engine: Duration,
    pub(super) exporter: Duration,
}

/// Compiles what the `scrape` section says.
pub(super) fn compile_scrape(
    raw: &raw::Scrape,
    errors: &mut ConfigErrors,
    warnings: &mut Vec<String>,
) -> (Intervals, Scrape) {
    let mut read = |path: &str, text: &Option<String>, shortest, longest| {
        duration(path, text.as_deref()?, (shortest, longest), errors)
    };
    let default_interval = Duration::from_millis(200);
    let engine = read("scrape.interval", &raw.interval, SHORTEST, LONGEST).unwrap_or(default_interval);
    let exporter =
        read("scrape.exporterInterval", &raw.exporter_interval, SHORTEST, LONGEST).unwrap_or(engine);

    let engine_age = believed_for(well_known::WAITING_QUEUE_SIZE);
    let timeout = read("scrape.timeout", &raw.timeout, SHORTEST, engine.max(engine_age));
    let max_backoff = read("scrape.maxBackoff", &raw.max_backoff, engine, LONGEST);
    let max_response_bytes = raw.max_response_bytes.unwrap_or(8 << 20);
    if !(1 << 10..=256 << 20).contains(&max_response_bytes) {
        errors.push("scrape.maxResponseBytes", max_response_bytes, "must be from 1024 to 268435456");
    }
    for (path, interval, age) in [
        ("scrape.interval", engine, engine_age),
        ("scrape.exporterInterval", exporter, believed_for(well_known::GPU_UTILIZATION)),
    ] {
        if interval > age {
            warnings.push(format!(
                "{path}: {interval:?}: readers believe such a value for {age:?} unless their config says \
                 otherwise, so it would be missing most of the time"
            ));
        }
    }
    let scrape = Scrape {
        timeout: timeout.unwrap_or(Duration::from_secs(2)),
        max_backoff: max_backoff.unwrap_or(Duration::from_secs(2)),
        max_response_bytes: usize::try_from(max_response_bytes).unwrap_or(usize::MAX),
    };
    (Intervals { engine, exporter }, scrape)
}

fn duration(
    path: &str,
    text: &str,
    range: (Duration, Duration),
    errors: &mut ConfigErrors,
) -> Option<Duration> {
    match text.parse::<Span>() {
        Ok(span) => {
            let duration = to_duration(span);
            if duration < range.0 || duration > range.1 {
                errors.push(path, quoted(text), format!("must be from {:?} to {:?}", range.0, range.1));
            }
            Some(duration)
        }
        Err(error) => {
            errors.push(path, quoted(text), error);
            None
        }
    }
}

/// How long a reader believes a value of the attribute when nobody told it otherwise.
fn believed_for(attribute: &str) -> Duration {
    attribute_info(attribute).map_or(Duration::MAX, |info| to_duration(info.max_age))
}

fn to_duration(span: Span) -> Duration {
    Duration::from_micros(span.as_micros())
}
