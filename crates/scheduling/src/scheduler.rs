//! The profiles of a pool and the handler that says which of them run.

use crate::{Context, Decision, Effect, Picked, Profile, ProfileHandler, Rejection};

/// A handler never runs a profile twice; this ends one that would.
const MAX_RUNS: usize = 16;

/// How a pool places requests.
#[derive(Debug)]
pub struct Scheduler {
    /// At least one.
    pub profiles: Vec<Profile>,
    /// Says which of them run.
    pub handler: Box<dyn ProfileHandler>,
}

/// One profile's run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Index of the profile.
    pub profile: usize,
    /// What came out.
    pub decision: Decision,
}

impl Run {
    /// The endpoint it chose.
    pub fn choice(&self) -> Option<usize> {
        self.decision.choice()
    }
}

/// The placement of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// What ran, in order.
    pub runs: Vec<Run>,
    /// Where the request goes.
    pub outcome: Outcome,
    /// What follows beside it.
    pub effects: Vec<Effect>,
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// To the endpoints of a run: the choice first, then where to retry.
    Placed {
        /// Index in [`Schedule::runs`].
        run: usize,
        /// Indices in the snapshot; at least one.
        order: Vec<usize>,
    },
    /// Nowhere.
    Rejected {
        /// Index in [`Schedule::runs`].
        run: usize,
        /// Why.
        rejection: Rejection,
    },
    /// Nowhere: the request asks for a profile that is not there.
    NoProfile {
        /// In words for the client.
        reason: String,
    },
}

impl Schedule {
    /// The endpoint that should serve.
    pub fn choice(&self) -> Option<usize> {
        match &self.outcome {
            Outcome::Placed { order, .. } => order.first().copied(),
            Outcome::Rejected { .. } | Outcome::NoProfile { .. } => None,
        }
    }
}

impl Scheduler {
    /// Places the request of `cx`. The same context gives the same schedule.
    pub fn schedule(&self, cx: &Context<'_>) -> Schedule {
        let mut runs: Vec<Run> = Vec::new();
        while runs.len() < MAX_RUNS {
            let stage = Context { peer: runs.first().and_then(Run::choice), ..*cx };
            let Some(profile) = self.handler.next(&stage, &runs) else { break };
            let Some(found) = self.profiles.get(profile) else { break };
            runs.push(Run { profile, decision: found.run(&stage) });
        }
        let primary = self.handler.primary(&runs).and_then(|at| Some((at, runs.get(at)?)));
        let outcome = match primary {
            None => Outcome::NoProfile { reason: self.handler.no_profile(cx) },
            Some((run, Run { decision: Decision { outcome: Ok(order), .. }, .. })) => {
                Outcome::Placed { run, order: order.clone() }
            }
            Some((run, Run { decision: Decision { outcome: Err(rejection), .. }, .. })) => {
                Outcome::Rejected { run, rejection: rejection.clone() }
            }
        };
        let effects = match outcome {
            Outcome::Placed { run, .. } => self.effects(cx, &runs, run),
            Outcome::Rejected { .. } | Outcome::NoProfile { .. } => Vec::new(),
        };
        Schedule { runs, outcome, effects }
    }

    /// The request headers that plugins read, in lower case, each once.
    pub fn headers(&self) -> Vec<String> {
        let mut names = self.handler.headers();
        for profile in &self.profiles {
            names.extend(profile.filters.iter().flat_map(|named| named.filter.headers()));
            names.extend(profile.scorers.iter().flat_map(|named| named.scorer.headers()));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    fn effects(&self, cx: &Context<'_>, runs: &[Run], primary: usize) -> Vec<Effect> {
        let mut effects: Vec<Effect> = Vec::new();
        for header in self.handler.stage_headers(runs) {
            let order = runs.get(header.run).and_then(|run| run.decision.outcome.as_ref().ok());
            let mut addresses: Vec<&str> = Vec::new();
            for endpoint in order.into_iter().flatten().filter_map(|&endpoint| cx.endpoint(endpoint)) {
                if !addresses.contains(&endpoint.address.as_str()) {
                    addresses.push(endpoint.address.as_str());
                }
            }
            addresses.truncate(if header.all { addresses.len() } else { 1 });
            if !addresses.is_empty() {
                effects
                    .push(Effect::RequestHeader { name: header.name.to_owned(), value: addresses.join(",") });
            }
        }
        for (index, run) in runs.iter().enumerate() {
            let (Some(choice), Some(profile)) = (run.choice(), self.profiles.get(run.profile)) else {
                continue;
            };
            let could_serve = |endpoint: usize| profile.could_serve(&run.decision, endpoint);
            let picked = Picked {
                profile: &profile.name,
                primary: index == primary,
                choice,
                could_serve: &could_serve,
            };
            let of_filters = profile.filters.iter().flat_map(|named| named.filter.effects(cx, &picked));
            let of_scorers = profile.scorers.iter().flat_map(|named| named.scorer.effects(cx, &picked));
            for effect in of_filters.chain(of_scorers) {
                if !effects.contains(&effect) {
                    effects.push(effect);
                }
            }
        }
        effects
    }
}

#[cfg(test)]
mod tests;
