//! A random decision.

use std::collections::BTreeMap;

use headroom_bench::{config, config::Drawn, dice::Dice, known, pool, request};
use headroom_datalayer::{Endpoint, Sample, Snapshot};
use headroom_filter::config::PoolSpec;
use headroom_scheduling::{Context, Known, Outcome, Request, Schedule};
use serde_json::Value as Json;

/// Everything a decision is made of.
pub(crate) struct Case {
    pub(crate) spec: PoolSpec,
    pub(crate) snapshot: Snapshot,
    pub(crate) known: Known,
    pub(crate) request: Request,
    pub(crate) seed: u64,
}

impl Case {
    pub(crate) fn new(dice: &mut Dice, pool: &Json, snapshot: Snapshot) -> Self {
        let spec = config::compile(pool).unwrap_or_else(|error| panic!("{error:#}"));
        let known = known::random(dice, &snapshot);
        Self { spec, snapshot, known, request: request::random(dice), seed: dice.bits() }
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            request: &self.request,
            snapshot: &self.snapshot,
            local: self.known.local(),
            peer: None,
            now: pool::NOW,
            seed: self.seed,
        }
    }

    pub(crate) fn schedule(&self) -> Schedule {
        self.spec.scheduler.schedule(&self.context())
    }

    pub(crate) fn address(&self, endpoint: usize) -> &str {
        self.snapshot.endpoints()[endpoint].address.as_str()
    }

    /// What was decided, by address.
    pub(crate) fn by_address(
        &self,
        schedule: &Schedule,
    ) -> (Vec<String>, BTreeMap<(usize, &str), u64>, String) {
        let order = match &schedule.outcome {
            Outcome::Placed { order, .. } => order.iter().map(|&at| self.address(at).to_owned()).collect(),
            other => vec![format!("{other:?}")],
        };
        let candidates = schedule
            .runs
            .iter()
            .flat_map(|run| run.decision.candidates.iter().map(move |candidate| (run.profile, candidate)));
        let totals =
            candidates.map(|(run, found)| ((run, self.address(found.endpoint)), found.total.to_bits()));
        (order, totals.collect(), format!("{:?}", schedule.effects))
    }
}

pub(crate) fn drawn(dice: &mut Dice) -> Drawn {
    config::random(dice).unwrap_or_else(|error| panic!("{error:#}"))
}

pub(crate) fn random_pool(dice: &mut Dice) -> Snapshot {
    pool::random(dice).unwrap_or_else(|error| panic!("{error:#}"))
}

/// The same pool with each endpoint and its row of samples changed, or left out.
pub(crate) fn rebuilt(
    snapshot: &Snapshot,
    mut change: impl FnMut(usize, &mut Endpoint, Vec<Option<Sample>>) -> Option<Vec<Option<Sample>>>,
) -> Snapshot {
    let (mut endpoints, mut rows) = (Vec::new(), Vec::new());
    for (at, endpoint) in snapshot.endpoints().iter().enumerate() {
        let columns = snapshot.columns().iter().map(|name| snapshot.column(name).expect("it is there"));
        let row = columns.map(|column| snapshot.sample(at, column).cloned()).collect();
        let mut endpoint = endpoint.clone();
        if let Some(row) = change(at, &mut endpoint, row) {
            endpoints.push(endpoint);
            rows.push(row);
        }
    }
    let columns = snapshot.columns().to_vec();
    Snapshot::new("pool".to_owned(), snapshot.version(), snapshot.updated_at(), endpoints, columns, rows)
}
