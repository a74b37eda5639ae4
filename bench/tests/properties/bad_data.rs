//! What is missing, too old or cannot be, of one of two endpoints that are equal otherwise.

use std::collections::BTreeSet;

use headroom_bench::{dice::Dice, known, pool};
use headroom_datalayer::{Sample, Snapshot, Timestamp, Value};
use headroom_scheduling::{Decision, Strength};
use serde_json::{Value as Json, json};

use crate::case::{Case, drawn, random_pool};

/// Leaves nothing of a config to chance, and missing values to the defaults.
fn plain(config: &mut Json) {
    match config {
        Json::Object(entries) => {
            entries.remove("onMissing");
            for (key, value) in entries.iter_mut() {
                match key.as_str() {
                    "explorationProbability" => *value = json!(0),
                    "type" if value.as_str().is_some_and(|kind| kind.ends_with("-picker")) => {
                        *value = json!("max-score-picker");
                    }
                    _ => plain(value),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// What a source that is broken reports of `attribute` in place of `good`.
fn bad(dice: &mut Dice, attribute: &str, good: &Sample) -> Option<Sample> {
    let from = |number: f64| Value::number(number).map(|value| Sample { value, ..good.clone() });
    let own = attribute.starts_with("custom.");
    match dice.below(8) {
        0 => None,
        1 => from(f64::NAN),
        2 => from(f64::INFINITY),
        3 => from(f64::NEG_INFINITY),
        // Of a custom attribute nobody knows that it cannot be negative.
        4 if !own => from(-dice.one(&[1.0, 0.001, 1e300])),
        5 => Some(Sample {
            measured_at: Timestamp::from_micros(pool::NOW.as_micros() + 90_000_000),
            ..good.clone()
        }),
        6 => Some(Sample { measured_at: Timestamp::from_micros(u64::MAX), ..good.clone() }),
        _ => Some(Sample { measured_at: Timestamp::default(), ..good.clone() }),
    }
}

fn survived(decision: &Decision) -> Vec<usize> {
    decision.candidates.iter().map(|found| found.endpoint).collect()
}

/// By how much the second of two candidates is better than the first.
fn lead(decision: &Decision) -> Option<f64> {
    match decision.candidates.as_slice() {
        [first, second] => Some(second.total - first.total),
        _ => None,
    }
}

#[test]
fn nobody_wins_over_an_equal_endpoint_by_bad_data() {
    let mut dice = Dice::new(5);
    let (mut compared, mut attributes) = (0, BTreeSet::new());
    for number in 0..16_000 {
        let mut pool = drawn(&mut dice).pool;
        plain(&mut pool);
        let Some(one) = random_pool(&mut dice).endpoints().first().cloned() else { continue };
        let columns: Vec<String> = headroom_datalayer::ATTRIBUTES
            .iter()
            .map(|info| info.name.to_owned())
            .chain([pool::CUSTOM.to_owned()])
            .collect();
        let good: Vec<Option<Sample>> = columns.iter().map(|name| pool::good(&mut dice, name)).collect();
        let mut other = good.clone();
        let at = dice.index(columns.len());
        let Some(value) = &good[at] else { continue };
        other[at] = bad(&mut dice, &columns[at], value);
        let mut two = one.clone();
        two.address = "10.9.0.1:8000".parse().expect("an address");
        let endpoints = if dice.chance(0.5) { [one, two] } else { [two, one] };
        let snapshot = |second: &Vec<Option<Sample>>| {
            let rows = vec![good.clone(), second.clone()];
            Snapshot::new("pool".to_owned(), 1, pool::NOW, endpoints.to_vec(), columns.clone(), rows)
        };
        let mut case = Case::new(&mut dice, &pool, snapshot(&good));
        // Both are as busy, as warm and as ill.
        known::make_equal(&mut case.known);
        let before = case.schedule();
        case.snapshot = snapshot(&other);
        let after = case.schedule();
        for run in &after.runs {
            // With bad data another stage may find nobody, and then the next ones do not run.
            let Some(before) = before.runs.iter().find(|before| before.profile == run.profile) else {
                continue;
            };
            let said = || {
                let (before, after) = (&before.decision, &run.decision);
                format!("{number}: {}\nbefore {before:?}\nafter {after:?}\nin {pool}", columns[at])
            };
            match (lead(&before.decision), lead(&run.decision)) {
                (Some(before), Some(after)) => {
                    // What breaks ties may favour it, with and without bad data.
                    assert!(after <= before + 1e-9, "{}", said());
                    compared += 1;
                    if after < before {
                        attributes.insert(columns[at].clone());
                    }
                }
                // The good value says that the first may not serve, and of the other nothing is known.
                (_, None) if survived(&run.decision) == [1] => {
                    let filters = &case.spec.scheduler.profiles[run.profile].filters;
                    let by = run.decision.excluded.iter().filter(|excluded| excluded.endpoint == 0);
                    let firmly = by.map(|excluded| filters[excluded.filter].filter.strength());
                    assert!(firmly.into_iter().any(|strength| strength != Strength::Soft), "{}", said());
                }
                (_, None) => {}
                (None, Some(_)) => {}
            }
        }
    }
    assert!(compared > 5_000, "only {compared} compared");
    assert!(attributes.len() > 8, "{attributes:?}");
}
