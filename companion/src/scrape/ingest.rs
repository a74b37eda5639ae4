//! From the text of a scrape to changed samples of the endpoints it is about.

use std::{borrow::Cow, collections::BTreeSet, time::Duration};

use headroom_datalayer::{Sample, Span, Timestamp, Value, attribute_info, well_known};
use headroom_exposition::parse;

use super::{error::ScrapeError, plan::Consumer};
use crate::{
    discovery::Source,
    extract::{EngineMemory, Facts, Families, extract_engine, extract_models},
    join::{Inventory, Refresh, Unmatched},
    publish::Change,
};

/// Facts that stay believable for longer than this are not sent again for each new measurement.
const LASTING: Span = Span::from_secs(60);
/// How often in its life an unchanged lasting fact is sent.
const REPEATS: u64 = 60;
/// More notes on one scrape than anybody reads.
const MAX_NOTES: usize = 20;

/// Reads one target's scrapes, and remembers what it said of each endpoint.
#[derive(Debug, Default)]
pub(super) struct Ingest {
    consumers: Vec<ConsumerState>,
    refresh: Refresh,
}

#[derive(Debug)]
struct ConsumerState {
    consumer: Consumer,
    /// What was handed on, by attribute.
    known: Facts,
    memory: EngineMemory,
}

/// What a scrape changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ingested {
    /// Changed samples by pool.
    pub(super) changes: Vec<(usize, Vec<Change>)>,
    /// Lines that could not be read.
    pub(super) parse_errors: usize,
    /// What was there and could not be used, and why.
    pub(super) notes: Vec<String>,
    /// GPUs that belong to no endpoint; `None` where the scrape is no exporter's.
    pub(super) unmatched_gpus: Option<Unmatched>,
    /// What the scrape is of: an engine, or an exporter.
    pub(super) kind: Option<&'static str>,
    /// Set when nothing in the scrape is known, with what was looked for.
    pub(super) nothing_known: Option<&'static str>,
}

impl Ingest {
    /// Reads for these endpoints from now on. What is known of those that stay is kept.
    pub(super) fn follow(&mut self, consumers: &[Consumer]) {
        if self.consumers.iter().map(|state| &state.consumer).eq(consumers) {
            return;
        }
        let mut known = std::mem::take(&mut self.consumers);
        let state = |consumer: &Consumer| match known.iter().position(|state| state.consumer == *consumer) {
            Some(at) => known.swap_remove(at),
            None => ConsumerState {
                consumer: consumer.clone(),
                known: Facts::new(),
                memory: EngineMemory::default(),
            },
        };
        self.consumers = consumers.iter().map(state).collect();
    }

    /// Reads a scrape that was sent at `sent_at`.
    ///
    /// # Errors
    /// When the text has no samples at all. It is then no scrape, and nothing changes.
    pub(super) fn read(&mut self, text: &str, sent_at: Timestamp) -> Result<Ingested, ScrapeError> {
        if self.consumers.iter().any(|state| matches!(state.consumer.source, Source::Models)) {
            return self.read_models(text, sent_at);
        }
        let parsed = parse(text);
        if parsed.samples.is_empty() {
            return Err(ScrapeError::NoSamples {
                unreadable: parsed.error_count,
                first: parsed.errors.into_iter().next(),
            });
        }
        let mut ingested = Ingested { parse_errors: parsed.error_count, ..Ingested::default() };
        ingested.notes.extend(parsed.errors.iter().take(MAX_NOTES).map(ToString::to_string));
        let families = Families::new(&parsed, sent_at);
        let inventory =
            self.refresh_period().map(|period| Inventory::new(&families, &mut self.refresh, period));
        if let Some(inventory) = &inventory {
            ingested.kind = inventory.exporter();
            ingested.notes.extend_from_slice(inventory.notes());
        }
        let mut owned = BTreeSet::new();
        let mut recognised = inventory.as_ref().is_some_and(|inventory| !inventory.is_empty());
        for state in &mut self.consumers {
            let consumer = &state.consumer;
            let (facts, complete) = match (&consumer.source, &inventory) {
                (Source::Engine(reading), _) => {
                    let extraction = extract_engine(reading, &families, &mut state.memory);
                    recognised |= extraction.recognised();
                    ingested.kind = extraction.engine.or(ingested.kind);
                    ingested.notes.extend(extraction.notes);
                    let mut facts = extraction.facts;
                    facts.extend(ready(1.0, sent_at));
                    (facts, true)
                }
                (Source::Gpus(reading), Some(inventory)) => {
                    let extraction = inventory.extract(&reading.selector, &mut owned);
                    if !inventory.is_empty() {
                        ingested.notes.extend(extraction.note(consumer.address.as_str()));
                    }
                    (extraction.facts, extraction.complete)
                }
                (Source::Gpus(_), None) | (Source::Models, _) => continue,
            };
            let changes = state.changes(facts, complete);
            if !changes.is_empty() {
                ingested.changes.push((state.consumer.pool, changes));
            }
        }
        ingested.unmatched_gpus = inventory.as_ref().map(|inventory| inventory.unmatched(&owned));
        if !recognised {
            ingested.nothing_known = Some(if inventory.is_some() {
                "no known GPU metric in this scrape"
            } else {
                "no known engine in this scrape"
            });
        }
        ingested.notes.truncate(MAX_NOTES);
        Ok(ingested)
    }

    fn read_models(&mut self, text: &str, sent_at: Timestamp) -> Result<Ingested, ScrapeError> {
        let facts = extract_models(text, sent_at).map_err(ScrapeError::NoModels)?;
        let mut ingested = Ingested { kind: Some("models"), ..Ingested::default() };
        if facts.is_empty() {
            ingested.nothing_known = Some("no model in this list");
        }
        for state in &mut self.consumers {
            let changes = state.changes(facts.clone(), true);
            ingested.changes.push((state.consumer.pool, changes));
        }
        Ok(ingested)
    }

    /// How often the exporter measures, if the target is one.
    fn refresh_period(&self) -> Option<Duration> {
        let sources = self.consumers.iter().map(|state| &state.consumer.source);
        let periods = sources.filter_map(|source| match source {
            Source::Gpus(reading) => Some(reading.refresh),
            Source::Engine(_) | Source::Models => None,
        });
        periods.max()
    }

    /// What it means that connections to `authority` are refused: the engine that serves there is not ready.
    /// One that is scraped elsewhere may be.
    pub(super) fn refused(&mut self, authority: &str, at: Timestamp) -> Ingested {
        let mut ingested = Ingested::default();
        for state in &mut self.consumers {
            let Consumer { source, address, pool, .. } = &state.consumer;
            if matches!(source, Source::Engine(_)) && address.as_str() == authority {
                let pool = *pool;
                let changes = state.changes(Facts::from_iter(ready(0.0, at)), false);
                ingested.changes.push((pool, changes));
            }
        }
        ingested
    }
}

fn ready(ready: f64, at: Timestamp) -> Option<(Cow<'static, str>, Sample)> {
    Some((Cow::Borrowed(well_known::READY), Sample { value: Value::number(ready)?, measured_at: at }))
}

impl ConsumerState {
    /// What is different from what was handed on. Attributes that a complete reading lacks are gone.
    fn changes(&mut self, facts: Facts, complete: bool) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut change = |attribute: &str, sample| {
            changes.push((self.consumer.address.clone(), attribute.to_owned(), sample));
        };
        if complete {
            self.known.retain(|attribute, _| {
                let stays = facts.contains_key(attribute);
                if !stays {
                    change(attribute, None);
                }
                stays
            });
        }
        for (attribute, sample) in facts {
            if self.known.get(&attribute).is_none_or(|known| is_news(&attribute, known, &sample)) {
                change(&attribute, Some(sample.clone()));
                self.known.insert(attribute, sample);
            }
        }
        changes
    }
}

/// Whether a reader needs the new sample. The time of an unchanged value matters as much as the value,
/// except for facts that are believed for minutes.
fn is_news(attribute: &str, known: &Sample, new: &Sample) -> bool {
    if known.value != new.value {
        return true;
    }
    let max_age = attribute_info(attribute).map_or(Span::ZERO, |info| info.max_age);
    let pause = if max_age > LASTING { Span::from_micros(max_age.as_micros() / REPEATS) } else { Span::ZERO };
    // Earlier than what is known: the clock was set back, and what is known would soon be too old.
    new.measured_at > known.measured_at.plus(pause) || new.measured_at < known.measured_at
}

#[cfg(test)]
mod news {
    use headroom_datalayer::{Timestamp, Value};

    use super::*;

    #[test]
    fn an_unchanged_value_is_news_when_its_time_has_changed_either_way() {
        let at = |ms| Sample {
            value: Value::number(0.0).expect("finite"),
            measured_at: Timestamp::from_millis(ms),
        };
        for (attribute, before, after, want) in [
            ("WaitingQueueSize", 5_000, 5_200, true),
            ("WaitingQueueSize", 5_000, 5_000, false),
            ("WaitingQueueSize", 3_605_000, 5_000, true),
            ("CacheBlockSize", 5_000, 5_200, false),
        ] {
            assert_eq!(is_news(attribute, &at(before), &at(after)), want, "{attribute} {before} {after}");
        }
    }
}
