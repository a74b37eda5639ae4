//! How often and how long targets are scraped.

use std::time::Duration;

use headroom_datalayer::{Span, attribute_info, well_known};

use super::{
    ConfigErrors, Scrape,
    error::quoted,
    raw,
    reach::{Reach, access},
};
use crate::discovery::{Access, Pace};

/// The shortest interval and timeout.
const SHORTEST: Duration = Duration::from_millis(10);
/// The longest interval and back-off.
const LONGEST: Duration = Duration::from_secs(300);
/// How often dcgm-exporter measures unless it is told otherwise.
const REFRESH: Duration = Duration::from_secs(30);
/// After this a scrape is given up, unless the config says otherwise.
const TIMEOUT: Duration = Duration::from_secs(2);

/// What holds for every target that does not say otherwise.
#[derive(Clone, Debug)]
pub(super) struct Reaches {
    pub(super) engine: Reach,
    pub(super) exporter: Reach,
    /// How often exporters measure.
    pub(super) refresh: Duration,
}

/// Compiles what the `scrape` section says.
pub(super) fn compile_scrape(
    raw: &raw::Scrape,
    errors: &mut ConfigErrors,
    warnings: &mut Vec<String>,
) -> (Reaches, Scrape) {
    let default_interval = Duration::from_millis(200);
    let engine = interval("scrape.interval", raw.interval.as_deref(), errors).unwrap_or(default_interval);
    let exporter =
        interval("scrape.exporterInterval", raw.exporter_interval.as_deref(), errors).unwrap_or(engine);
    let timeout = timeout("scrape.timeout", raw.timeout.as_deref(), engine, errors).unwrap_or(TIMEOUT);
    let max_backoff = duration("scrape.maxBackoff", raw.max_backoff.as_deref(), (engine, LONGEST), errors);
    let max_response_bytes = raw.max_response_bytes.unwrap_or(8 << 20);
    if !(1 << 10..=256 << 20).contains(&max_response_bytes) {
        errors.push("scrape.maxResponseBytes", max_response_bytes, "must be from 1024 to 268435456");
    }
    let access =
        access("scrape", raw.tls.as_ref(), raw.bearer_token_file.as_deref(), &Access::default(), errors);
    for (path, interval, attribute) in [
        ("scrape.interval", engine, well_known::WAITING_QUEUE_SIZE),
        ("scrape.exporterInterval", exporter, well_known::GPU_UTILIZATION),
    ] {
        warn_if_too_seldom(path, interval, attribute, warnings);
    }
    let scrape = Scrape {
        max_backoff: max_backoff.unwrap_or(Duration::from_secs(2)),
        max_response_bytes: usize::try_from(max_response_bytes).unwrap_or(usize::MAX),
    };
    let reach = |interval| Reach { access: access.clone(), pace: Pace { interval, timeout } };
    let refresh =
        refresh("scrape.exporterRefresh", raw.exporter_refresh.as_deref(), errors).unwrap_or(REFRESH);
    (Reaches { engine: reach(engine), exporter: reach(exporter), refresh }, scrape)
}

/// Warns of an interval that makes values too old to use before the next ones come.
pub(super) fn warn_if_too_seldom(
    path: &str,
    interval: Duration,
    attribute: &str,
    warnings: &mut Vec<String>,
) {
    let age = believed_for(attribute);
    if interval > age {
        warnings.push(format!(
            "{path}: {interval:?}: readers believe such a value for {age:?} unless their config says \
             otherwise, so it would be missing most of the time"
        ));
    }
}

/// The time between two scrapes, if `text` gives one.
pub(super) fn interval(path: &str, text: Option<&str>, errors: &mut ConfigErrors) -> Option<Duration> {
    duration(path, text, (SHORTEST, LONGEST), errors)
}

/// How often an exporter measures, if `text` says so.
pub(super) fn refresh(path: &str, text: Option<&str>, errors: &mut ConfigErrors) -> Option<Duration> {
    duration(path, text, (SHORTEST, Duration::from_secs(600)), errors)
}

/// How long a scrape may take, if `text` says so.
pub(super) fn timeout(
    path: &str,
    text: Option<&str>,
    interval: Duration,
    errors: &mut ConfigErrors,
) -> Option<Duration> {
    let longest = interval.max(believed_for(well_known::WAITING_QUEUE_SIZE));
    duration(path, text, (SHORTEST, longest), errors)
}

fn duration(
    path: &str,
    text: Option<&str>,
    range: (Duration, Duration),
    errors: &mut ConfigErrors,
) -> Option<Duration> {
    let text = text?;
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
