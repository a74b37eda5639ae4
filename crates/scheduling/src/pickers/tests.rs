use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::testing::{Known, build, context, pool, try_build};
use crate::{Plugin, Request};
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn candidates(totals: &[f64]) -> Vec<Candidate> {
    let of = |(endpoint, total): (usize, &f64)| Candidate { endpoint, total: *total, opinions: Vec::new() };
    totals.iter().enumerate().map(of).collect()
}

fn pick(picker: &dyn Picker, totals: &[f64], seed: u64) -> Vec<usize> {
    let (request, known) = (Request::default(), Known::default());
    let snapshot = pool("x", &vec![None; totals.len()]);
    let cx = Context { seed, ..context(&request, &snapshot, &known) };
    let order = picker.pick(&cx, &candidates(totals));
    let mut reversed = candidates(totals);
    reversed.reverse();
    assert_eq!(picker.pick(&cx, &reversed), order, "the order of the candidates does not matter");
    order
}

/// How often each endpoint is among the picked, as a share of 10,000 draws.
fn shares(picker: &dyn Picker, totals: &[f64]) -> Vec<f64> {
    let mut counts = vec![0_u32; totals.len()];
    for seed in 0..10_000 {
        for endpoint in pick(picker, totals, seed) {
            counts[endpoint] += 1;
        }
    }
    counts.into_iter().map(|count| f64::from(count) / 1e4).collect()
}

fn assert_near(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (got_share, want_share) in got.iter().zip(want) {
        assert!((got_share - want_share).abs() < 0.02, "{got:?} is not {want:?}");
    }
}

fn picker<P: Picker + Plugin>(max: usize) -> P {
    build(json!({"maxNumOfEndpoints": max}))
}

#[test]
fn the_highest_totals_come_first() {
    for (totals, max, want) in [
        (&[10.0, 25.0, 15.0][..], 1, &[1][..]),
        (&[20.0, 25.0, 30.0], 2, &[2, 1]),
        (&[20.0, 25.0, 30.0], 4, &[2, 1, 0]),
        (&[], 4, &[]),
    ] {
        assert_eq!(pick(&picker::<MaxScorePicker>(max), totals, 7), want, "{totals:?} {max}");
    }
}

#[test]
fn equal_totals_share_the_requests() {
    assert_near(&shares(&picker::<MaxScorePicker>(1), &[50.0, 50.0, 30.0]), &[0.5, 0.5, 0.0]);
    assert_near(&shares(&picker::<MaxScorePicker>(1), &[1.0; 4]), &[0.25; 4]);
    let orders: BTreeSet<Vec<usize>> =
        (0..100).map(|seed| pick(&picker::<MaxScorePicker>(3), &[30.0, 25.0, 30.0], seed)).collect();
    assert_eq!(orders, BTreeSet::from([vec![0, 2, 1], vec![2, 0, 1]]));
}

#[test]
fn random_takes_everybody_alike() {
    for (totals, max) in [(&[10.0, 90.0][..], 1), (&[0.0, 1.0, 2.0], 2), (&[5.0, 0.0, 0.0], 4)] {
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let share = (max as f64 / totals.len() as f64).min(1.0);
        assert_near(&shares(&picker::<RandomPicker>(max), totals), &vec![share; totals.len()]);
    }
}

#[test]
fn weighted_random_takes_in_proportion_to_the_totals() {
    for totals in [
        &[10.0, 90.0][..],
        &[100.0, 100.0, 100.0],
        &[30.0, 0.0],
        &[100.0, 90.0, 50.0, 30.0, 20.0],
        &[1e-300, 3e-300],
    ] {
        let sum: f64 = totals.iter().sum();
        let want: Vec<f64> = totals.iter().map(|total| total / sum).collect();
        let got = shares(&picker::<WeightedRandomPicker>(1), totals);
        assert_near(&got, &want);
        assert!(
            totals.iter().zip(&got).all(|(total, share)| *total > 0.0 || *share == 0.0),
            "0 is never drawn"
        );
    }
    assert_near(&shares(&picker::<WeightedRandomPicker>(1), &[0.0; 3]), &[1.0 / 3.0; 3]);
    // Without replacement: the 8 first, or second after one of the others: 0.8 + 0.2 × 8 ÷ 9.
    let got = shares(&picker::<WeightedRandomPicker>(2), &[1.0, 1.0, 8.0]);
    assert_near(&got, &[0.5111, 0.5111, 0.9778]);
}

#[test]
fn the_better_of_two_is_never_the_worst_and_not_always_the_best() {
    let got = shares(&picker::<PowerOfTwoPicker>(1), &[4.0, 3.0, 2.0, 1.0]);
    assert_near(&got, &[3.0 / 6.0, 2.0 / 6.0, 1.0 / 6.0, 0.0]);
    for seed in 0..100 {
        let order = pick(&picker::<PowerOfTwoPicker>(4), &[4.0, 3.0, 2.0, 1.0], seed);
        let winner = order[0];
        let others: Vec<usize> = (0..4).filter(|endpoint| *endpoint != winner).collect();
        assert_eq!(order[1..], others, "the best of the others follow");
    }
    assert_eq!(pick(&picker::<PowerOfTwoPicker>(4), &[4.0], 1), [0]);
}

#[test]
fn a_list_has_a_length_within_bounds() {
    for max in [json!(0), json!(17), json!(-1)] {
        let parameters = json!({"maxNumOfEndpoints": max});
        for error in [
            try_build::<MaxScorePicker>(parameters.clone()).map(|_| ()),
            try_build::<RandomPicker>(parameters.clone()).map(|_| ()),
            try_build::<WeightedRandomPicker>(parameters.clone()).map(|_| ()),
            try_build::<PowerOfTwoPicker>(parameters.clone()).map(|_| ()),
        ] {
            assert!(error.is_err(), "{parameters}");
        }
    }
    assert_eq!(build::<MaxScorePicker>(json!({})).max_endpoints(), 4);
}
