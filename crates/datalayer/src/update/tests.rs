use proptest::prelude::*;

use super::*;
use crate::Value;

fn endpoint(n: u8) -> Endpoint {
    Endpoint {
        address: format!("10.0.0.{n}:8000").parse().expect("valid"),
        name: format!("pod-{n}"),
        labels: BTreeMap::new(),
    }
}

fn sample(value: f64, at: u64) -> Option<Sample> {
    Value::number(value).map(|value| Sample { value, measured_at: Timestamp::from_micros(at) })
}

#[test]
fn an_endpoint_that_left_is_not_brought_back_by_a_late_sample() {
    let mut state = PoolState::default();
    state.apply(Update { upserted: vec![endpoint(1), endpoint(2)], ..Update::default() });
    let before = state.catalog_version();
    state.apply(Update { removed: vec![endpoint(1).address], ..Update::default() });
    assert_ne!(state.catalog_version(), before);
    state.apply(Update {
        samples: vec![(endpoint(1).address, "x".into(), sample(1.0, 1))],
        ..Update::default()
    });
    assert_eq!(state.catalog().endpoints, vec![endpoint(2)]);
}

#[test]
fn a_cleared_value_is_gone_and_leaves_the_others() {
    let mut state = PoolState::default();
    let at = endpoint(1).address;
    state.apply(Update {
        upserted: vec![endpoint(1)],
        samples: vec![(at.clone(), "a".into(), sample(1.0, 1)), (at.clone(), "b".into(), sample(2.0, 1))],
        ..Update::default()
    });
    state.apply(Update { samples: vec![(at, "a".into(), None)], ..Update::default() });
    assert_eq!(state.samples().columns, vec!["b".to_owned()]);
}

#[test]
fn samples_of_another_catalog_make_no_snapshot() {
    let mut state = PoolState::default();
    state.apply(Update { upserted: vec![endpoint(1)], ..Update::default() });
    let old = state.samples();
    state.apply(Update { upserted: vec![endpoint(2)], ..Update::default() });
    let now = Timestamp::from_micros(1);
    assert!(state.catalog().snapshot("p", old, 1, now).is_none());
    assert!(state.catalog().snapshot("p", state.samples(), 2, now).is_some());
}

fn updates() -> impl Strategy<Value = Vec<Update>> {
    let one = (
        proptest::collection::vec(0u8..6, 0..3),
        proptest::collection::vec(0u8..6, 0..2),
        proptest::collection::vec((0u8..6, 0u8..3, proptest::option::of(0u8..9)), 0..6),
    )
        .prop_map(|(upserted, removed, samples)| Update {
            upserted: upserted.into_iter().map(endpoint).collect(),
            removed: removed.into_iter().map(|n| endpoint(n).address).collect(),
            samples: samples
                .into_iter()
                .map(|(n, key, v)| {
                    (endpoint(n).address, format!("a{key}"), v.and_then(|v| sample(f64::from(v), 1)))
                })
                .collect(),
        });
    proptest::collection::vec(one, 0..12)
}

proptest! {
    #[test]
    fn every_row_has_one_entry_a_column_and_applying_twice_changes_nothing(updates in updates()) {
        let mut state = PoolState::default();
        for update in updates {
            state.apply(update.clone());
            let once = (state.catalog().endpoints, state.samples().rows);
            state.apply(update);
            prop_assert_eq!(&once, &(state.catalog().endpoints, state.samples().rows));
            let samples = state.samples();
            prop_assert_eq!(samples.rows.len(), state.catalog().endpoints.len());
            prop_assert!(samples.rows.iter().all(|row| row.len() == samples.columns.len()));
        }
    }
}
