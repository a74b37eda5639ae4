//! A hard filter among any others, at any place.

use std::collections::BTreeSet;

use headroom_bench::dice::Dice;
use headroom_scheduling::Effect;
use serde_json::{Value as Json, json};

use crate::case::{Case, drawn, random_pool, rebuilt};

/// `pool` with a label selector at a random place of each profile's filters.
fn with_hard_filter(dice: &mut Dice, mut pool: Json) -> Json {
    let mut plugin =
        json!({"type": "label-selector-filter", "name": "firm", "parameters": {"selector": "may=yes"}});
    if let Some(profiles) = pool.get_mut("schedulingProfiles").and_then(Json::as_array_mut) {
        for profile in profiles {
            let references = profile["plugins"].as_array_mut().expect("references");
            references.insert(dice.index(references.len() + 1), json!({"pluginRef": "firm"}));
        }
        pool["plugins"].as_array_mut().expect("plugins").push(plugin.take());
    } else {
        let filters = pool["filters"].as_array_mut().expect("filters");
        filters.insert(dice.index(filters.len() + 1), plugin.take());
    }
    pool
}

#[test]
fn what_a_hard_filter_excluded_never_comes_back() {
    let mut dice = Dice::new(3);
    let mut placed = 0;
    for number in 0..4_000 {
        let pool = drawn(&mut dice).pool;
        let pool = with_hard_filter(&mut dice, pool);
        let snapshot = random_pool(&mut dice);
        let share = dice.one(&[0.0, 0.1, 0.5]);
        let snapshot = rebuilt(&snapshot, |_, endpoint, row| {
            if dice.chance(share) {
                endpoint.labels.insert("may".to_owned(), "yes".to_owned());
            }
            Some(row)
        });
        let case = Case::new(&mut dice, &pool, snapshot);
        let may = |endpoint: usize| case.snapshot.endpoints()[endpoint].labels.contains_key("may");
        let schedule = case.schedule();
        for run in &schedule.runs {
            let order = run.decision.outcome.as_ref().map(Vec::as_slice).unwrap_or_default();
            placed += usize::from(!order.is_empty());
            assert!(order.iter().all(|&endpoint| may(endpoint)), "{number}: {:?}\nin {pool}", run.decision);
        }
        let addresses: BTreeSet<&str> =
            case.snapshot.endpoints().iter().map(|e| e.address.as_str()).collect();
        for effect in &schedule.effects {
            // The endpoints of other stages are named to the model server.
            if let Effect::RequestHeader { value, .. } = effect {
                for address in value.split(',').filter(|address| addresses.contains(address)) {
                    let at = case.snapshot.endpoints().iter().position(|e| e.address.as_str() == address);
                    assert!(may(at.expect("listed")), "{number}: {effect:?}\nin {pool}");
                }
            }
        }
    }
    assert!(placed > 1_000, "only {placed} runs chose an endpoint");
}
