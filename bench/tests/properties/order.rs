//! The order in which the companion lists endpoints.

use headroom_bench::{config, dice::Dice};
use headroom_datalayer::Snapshot;
use headroom_scheduling::Known;

use crate::case::{Case, drawn, random_pool, rebuilt};

/// `items` in another order; those that are missing at the end are the default.
fn reordered<T: Clone + Default>(items: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&at| items.get(at).cloned().unwrap_or_default()).collect()
}

#[test]
fn the_order_of_the_endpoints_does_not_matter() {
    let mut dice = Dice::new(4);
    for number in 0..2_000 {
        let (pool, snapshot) = (drawn(&mut dice).pool, random_pool(&mut dice));
        let case = Case::new(&mut dice, &pool, snapshot);
        let all: Vec<usize> = (0..case.snapshot.endpoints().len()).collect();
        let order = dice.some(&all, all.len());

        let (mut endpoints, mut rows) = (Vec::new(), Vec::new());
        rebuilt(&case.snapshot, |_, endpoint, row| {
            endpoints.push(endpoint.clone());
            rows.push(row);
            None
        });
        let endpoints = order.iter().map(|&at| endpoints[at].clone()).collect();
        let known = &case.known;
        let shuffled = Case {
            spec: config::compile(&pool).expect("it did before"),
            snapshot: Snapshot::new(
                "pool".to_owned(),
                case.snapshot.version(),
                case.snapshot.updated_at(),
                endpoints,
                case.snapshot.columns().to_vec(),
                reordered(&rows, &order),
            ),
            known: Known {
                sent: reordered(&known.sent, &order),
                tokens: reordered(&known.tokens, &order),
                prefix: reordered(&known.prefix, &order),
                failing: reordered(&known.failing, &order),
                cold_picks: reordered(&known.cold_picks, &order),
                ..known.clone()
            },
            request: case.request.clone(),
            seed: case.seed,
        };
        let (listed, reshuffled) = (case.schedule(), shuffled.schedule());
        assert_eq!(case.by_address(&listed), shuffled.by_address(&reshuffled), "{number}: {pool}");
    }
}
