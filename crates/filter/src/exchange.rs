//! One request and its response, from headers to completion.

use std::{collections::BTreeMap, rc::Rc};

use headroom_datalayer::{Address, Timestamp};
use headroom_scheduling::{
    Context, Detail, Effect, Explanation, Fallback, Finding, Outcome, Rejection, Request, Run, Schedule,
};

use crate::body;
use crate::config::raw::OnNoData;
use crate::inflight::Charge;
use crate::local::{Known, marks, sessions};
use crate::pool::{Pool, Pools};
use crate::ports::{SharedData, Stats};
use crate::reply::LocalReply;
use crate::stats;
use crate::workers::Workers;
use attempts::Attempts;

mod attempts;

pub use attempts::Response;

/// What a step of an exchange may use.
pub struct Env<'a> {
    /// State that the feed writes.
    pub shared: &'a dyn SharedData,
    /// Metrics.
    pub stats: &'a dyn Stats,
    /// What all workers have in flight.
    pub workers: &'a Workers,
    /// The time.
    pub now: Timestamp,
    /// Breaks ties.
    pub rng: &'a mut fastrand::Rng,
    /// Signs session tokens, unless the workers have agreed on another key or the config gives one.
    pub secret: &'a [u8],
}

impl std::fmt::Debug for Env<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").field("now", &self.now).finish_non_exhaustive()
    }
}

/// A request's headers, as far as they matter.
#[derive(Clone, Debug, Default)]
pub struct Head<'a> {
    /// `:method`, empty when absent.
    pub method: &'a str,
    /// `:path`, empty when absent.
    pub path: &'a str,
    /// `content-length`, if it is a number.
    pub content_length: Option<u64>,
    /// Whether the request has no body.
    pub end_of_stream: bool,
    /// Those of [`Exchange::headers`] that the request has.
    pub headers: BTreeMap<String, String>,
}

/// What the adapter does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Let the request go on as it is.
    Pass,
    /// Hold the request until its body is whole.
    AwaitBody,
    /// Send the request to these endpoints, in order.
    Send {
        /// Value of the destination header.
        destination: String,
        /// Further request headers to set.
        headers: Vec<(String, String)>,
    },
    /// Answer in the endpoint's place.
    Reply(LocalReply),
}

/// One request to a pool.
#[derive(Debug)]
pub struct Exchange {
    pool: Rc<Pool>,
    headers: BTreeMap<String, String>,
    charge: Option<Charge>,
    attempts: Attempts,
    decision: Option<String>,
    response_headers: Vec<(String, String)>,
}

impl Exchange {
    /// The exchange of a request to `cluster`, or `None` when no pool schedules that cluster.
    pub fn of(pools: &Pools, cluster: &str) -> Option<Self> {
        let pool = Rc::clone(pools.of_cluster(cluster)?);
        Some(Self {
            pool,
            headers: BTreeMap::new(),
            charge: None,
            attempts: Attempts::default(),
            decision: None,
            response_headers: Vec::new(),
        })
    }

    /// The request headers that decide, in lower case.
    pub fn headers(&self) -> &[String] {
        &self.pool.spec.headers
    }

    /// The headers are here.
    pub fn on_request_headers(&mut self, head: Head<'_>, env: &mut Env<'_>) -> Action {
        self.headers = head.headers;
        if !body::is_inference(head.method, head.path) {
            return self.schedule(Request::default(), env);
        }
        let limit = self.pool.spec.max_body_bytes;
        if head.content_length.is_some_and(|length| length > limit) {
            return self.refuse(LocalReply::too_large(limit), "too_large", env);
        }
        if head.end_of_stream {
            return self.on_request_body(b"", env);
        }
        Action::AwaitBody
    }

    /// The body has grown to `size` bytes; whether it may go on growing.
    pub fn on_request_body_growing(&mut self, size: usize, env: &mut Env<'_>) -> Action {
        let limit = self.pool.spec.max_body_bytes;
        if u64::try_from(size).is_ok_and(|size| size <= limit) {
            return Action::AwaitBody;
        }
        self.refuse(LocalReply::too_large(limit), "too_large", env)
    }

    /// The body is whole.
    pub fn on_request_body(&mut self, bytes: &[u8], env: &mut Env<'_>) -> Action {
        match body::read(bytes) {
            Ok(request) => self.schedule(request, env),
            Err(reason) => self.refuse(LocalReply::bad_request(&reason), "bad_request", env),
        }
    }

    /// Response headers are here; gives those to set. A retry may have ended elsewhere: the endpoint that
    /// serves is the one charged.
    pub fn on_response_headers(
        &mut self,
        response: &Response<'_>,
        env: &mut Env<'_>,
    ) -> Vec<(String, String)> {
        let served_by = response.upstream.and_then(|address| address.parse::<Address>().ok());
        if let Some(served_by) = &served_by {
            if self.charge.as_ref().is_some_and(|charge| charge.address() != served_by) {
                env.stats.count(&stats::SERVED_ELSEWHERE.with(&[&self.pool.spec.name]), 1);
                self.charge = Some(self.pool.inflight.charge(&self.pool.spec.name, served_by, env.now));
                env.workers.tell(env.shared, env.now);
            }
            for failed in self.attempts.answered(served_by, response.status) {
                self.failed(&failed, env);
            }
        }
        let mut headers = std::mem::take(&mut self.response_headers);
        // They speak of the choice.
        if served_by.as_ref() != self.attempts.choice() {
            headers.clear();
        }
        let shown = self.pool.spec.explain.response_header.as_ref().zip(self.decision.as_ref());
        headers.extend(shown.map(|(name, decision)| (name.clone(), decision.clone())));
        headers
    }

    /// The exchange has ended, however it did; `broke` says that the endpoint ended it before its answer
    /// was whole. Dropping it is as good, only that the other workers learn of it later.
    pub fn on_end(&mut self, broke: bool, env: &Env<'_>) {
        match self.attempts.ended(broke) {
            Some((address, true)) if self.pool.spec.watches_failures => {
                marks::clear(env.shared, &self.pool.keys.failures, &address);
            }
            Some((address, false)) => self.failed(&address, env),
            _ => {}
        }
        if self.charge.take().is_some() {
            env.workers.tell(env.shared, env.now);
        }
    }

    fn failed(&self, address: &Address, env: &Env<'_>) {
        if self.pool.spec.watches_failures {
            env.stats.count(&stats::FAILURES.with(&[&self.pool.spec.name, address.as_str()]), 1);
            marks::add(env.shared, &self.pool.keys.failures, address, env.now);
        }
    }

    /// The decision as JSON, for the access log; empty when it is not to be shown there.
    pub fn decision_for_log(&self) -> Option<&str> {
        self.decision.as_deref().filter(|_| self.pool.spec.explain.access_log)
    }

    fn refuse(&self, reply: LocalReply, outcome: &str, env: &Env<'_>) -> Action {
        self.count(outcome, env);
        Action::Reply(reply)
    }

    fn count(&self, outcome: &str, env: &Env<'_>) {
        env.stats.count(&stats::REQUESTS.with(&[&self.pool.spec.name, outcome]), 1);
    }

    fn schedule(&mut self, mut request: Request, env: &mut Env<'_>) -> Action {
        request.headers = std::mem::take(&mut self.headers);
        let pool = Rc::clone(&self.pool);
        let known = pool.current(env.shared);
        let nobody = known.as_ref().is_none_or(|current| current.snapshot.endpoints().is_empty());
        if nobody && pool.spec.on_no_data == OnNoData::PassThrough {
            self.count("passed_through", env);
            return Action::Pass;
        }
        let Some(current) = known else {
            return self.refuse(LocalReply::no_data(&pool.spec.name), "no_data", env);
        };
        env.workers.look(env.shared, env.now);
        let local = Known::new(env.shared, &pool, &current, env.secret);
        let cx = Context {
            request: &request,
            snapshot: &current.snapshot,
            local: local.local(),
            peer: None,
            now: env.now,
            seed: env.rng.u64(..),
        };
        let schedule = pool.spec.scheduler.schedule(&cx);
        self.explain(&schedule, &cx);
        self.count_fallbacks(&schedule, env);
        match &schedule.outcome {
            Outcome::Placed { order, .. } => {
                let addresses = order.iter().filter_map(|&endpoint| cx.endpoint(endpoint));
                let addresses: Vec<Address> = addresses.map(|endpoint| endpoint.address.clone()).collect();
                let Some(choice) = addresses.first() else { return Action::Pass };
                self.charge = Some(pool.inflight.charge(&pool.spec.name, choice, env.now));
                env.workers.tell(env.shared, env.now);
                self.count("scheduled", env);
                let list: Vec<&str> = addresses.iter().map(Address::as_str).collect();
                let destination = list.join(",");
                self.attempts = Attempts::new(addresses);
                let headers = self.carry_out(schedule.effects, env);
                Action::Send { destination, headers }
            }
            Outcome::Rejected { run, rejection } => {
                let outcome = match rejection {
                    Rejection::NoEndpoints => "no_endpoints",
                    Rejection::NoneCapable { .. } => "none_capable",
                    Rejection::NoneAvailable { .. } => "none_available",
                    Rejection::Saturated { .. } => "saturated",
                };
                let profile = schedule.runs.get(*run).and_then(|run| self.profile(run));
                let message = profile.map(|profile| rejection.message(profile, &cx)).unwrap_or_default();
                self.refuse(LocalReply::rejected(rejection, &message, &pool.spec.name), outcome, env)
            }
            Outcome::NoProfile { reason } => {
                self.refuse(LocalReply::no_profile(&pool.spec.name, reason), "no_profile", env)
            }
        }
    }

    /// Does what follows from the choice; gives the request headers to set.
    fn carry_out(&mut self, effects: Vec<Effect>, env: &Env<'_>) -> Vec<(String, String)> {
        let keys = &self.pool.keys;
        let mut headers = Vec::new();
        for effect in effects {
            match effect {
                Effect::RequestHeader { name, value } => headers.push((name, value)),
                Effect::ResponseHeader { name, value } => self.response_headers.push((name, value)),
                Effect::Pin { session, address, ttl } => {
                    sessions::pin(env.shared, keys, &session, &address, ttl, env.now);
                }
                Effect::ColdPick { address } => marks::add(env.shared, &keys.cold_picks, &address, env.now),
            }
        }
        headers
    }

    fn profile(&self, run: &Run) -> Option<&headroom_scheduling::Profile> {
        self.pool.spec.scheduler.profiles.get(run.profile)
    }

    fn explain(&mut self, schedule: &Schedule, cx: &Context<'_>) {
        let explain = &self.pool.spec.explain;
        if explain.access_log || explain.response_header.is_some() {
            let detail = Detail { max_endpoints: explain.max_endpoints, grounds: false };
            let explanation = Explanation::new(schedule, &self.pool.spec.scheduler, cx, detail);
            self.decision = serde_json::to_string(&explanation).ok();
        }
    }

    fn count_fallbacks(&self, schedule: &Schedule, env: &Env<'_>) {
        for run in &schedule.runs {
            let Some(profile) = self.profile(run) else { continue };
            let filter = |index: usize| profile.filters.get(index).map_or("", |named| named.name.as_str());
            let scorer = |index: usize| profile.scorers.get(index).map_or("", |named| named.name.as_str());
            for fallback in &run.decision.fallbacks {
                let (rule, name) = match fallback {
                    Fallback::LeastBad { filter: index, .. } => ("least_bad", filter(*index)),
                    Fallback::MetricsMissing { filter: index } => ("metrics_missing", filter(*index)),
                    Fallback::Probe { finding, .. } => match finding {
                        Finding::Unmeasured { scorer: index, .. }
                        | Finding::LoadWithoutRequests { scorer: index, .. } => ("probe", scorer(*index)),
                    },
                };
                env.stats.count(&stats::FALLBACKS.with(&[&self.pool.spec.name, rule, name]), 1);
            }
        }
    }
}

#[cfg(test)]
mod tests;
