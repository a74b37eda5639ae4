//! One request and its response, from headers to completion.

use std::rc::Rc;

use headroom_datalayer::{Address, Timestamp};
use headroom_scheduling::{Context, Decision, Explanation, Fallback, Rejection, Request};

use crate::body;
use crate::config::raw::OnNoData;
use crate::inflight::Charge;
use crate::pool::{Current, Pool, Pools};
use crate::ports::{SharedData, Stats};
use crate::reply::LocalReply;
use crate::stats;
use crate::workers::Workers;

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
}

impl std::fmt::Debug for Env<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").field("now", &self.now).finish_non_exhaustive()
    }
}

/// A request's headers, as far as they matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    /// `:method`, empty when absent.
    pub method: &'a str,
    /// `:path`, empty when absent.
    pub path: &'a str,
    /// `content-length`, if it is a number.
    pub content_length: Option<u64>,
    /// Whether the request has no body.
    pub end_of_stream: bool,
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
    },
    /// Answer in the endpoint's place.
    Reply(LocalReply),
}

/// One request to a pool.
#[derive(Debug)]
pub struct Exchange {
    pool: Rc<Pool>,
    charge: Option<Charge>,
    decision: Option<String>,
}

impl Exchange {
    /// The exchange of a request to `cluster`, or `None` when no pool schedules that cluster.
    pub fn of(pools: &Pools, cluster: &str) -> Option<Self> {
        let pool = Rc::clone(pools.of_cluster(cluster)?);
        Some(Self { pool, charge: None, decision: None })
    }

    /// The headers are here.
    pub fn on_request_headers(&mut self, head: &Head<'_>, env: &mut Env<'_>) -> Action {
        if !body::is_inference(head.method, head.path) {
            return self.schedule(&Request::default(), env);
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
            Ok(request) => self.schedule(&request, env),
            Err(reason) => self.refuse(LocalReply::bad_request(&reason), "bad_request", env),
        }
    }

    /// Response headers are here; `upstream` is who sent them. A retry may have ended elsewhere: the
    /// endpoint that serves is the one charged.
    pub fn on_response_headers(&mut self, upstream: Option<&str>, env: &mut Env<'_>) {
        let Some(served_by) = upstream.and_then(|address| address.parse::<Address>().ok()) else { return };
        if self.charge.as_ref().is_some_and(|charge| *charge.address() != served_by) {
            env.stats.count(&stats::SERVED_ELSEWHERE.with(&[&self.pool.spec.name]), 1);
            self.charge = Some(self.pool.inflight.charge(&self.pool.spec.name, &served_by, env.now));
            env.workers.tell(env.shared, env.now);
        }
    }

    /// The exchange has ended, however it did. Dropping it is as good, only that the other workers learn
    /// of it later.
    pub fn on_end(&mut self, env: &Env<'_>) {
        if self.charge.take().is_some() {
            env.workers.tell(env.shared, env.now);
        }
    }

    /// The decision as JSON, for the access log; empty when it is not to be shown there.
    pub fn decision_for_log(&self) -> Option<&str> {
        self.decision.as_deref().filter(|_| self.pool.spec.explain.access_log)
    }

    /// Response header name and value that show the decision to the client, if so configured.
    pub fn decision_header(&self) -> Option<(&str, &str)> {
        Some((self.pool.spec.explain.response_header.as_deref()?, self.decision.as_deref()?))
    }

    fn refuse(&self, reply: LocalReply, outcome: &str, env: &Env<'_>) -> Action {
        self.count(outcome, env);
        Action::Reply(reply)
    }

    fn count(&self, outcome: &str, env: &Env<'_>) {
        env.stats.count(&stats::REQUESTS.with(&[&self.pool.spec.name, outcome]), 1);
    }

    fn schedule(&mut self, request: &Request, env: &mut Env<'_>) -> Action {
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
        let cx = Context { request, snapshot: &current.snapshot, load: &current.load, now: env.now };
        let decision = pool.spec.profile.run(&cx, env.rng);
        self.explain(&decision, &current);
        self.count_fallbacks(&decision, env);
        match &decision.outcome {
            Ok(order) => {
                let addresses =
                    order.iter().filter_map(|&endpoint| current.snapshot.endpoints().get(endpoint));
                let addresses: Vec<&Address> = addresses.map(|endpoint| &endpoint.address).collect();
                let Some(choice) = addresses.first() else { return Action::Pass };
                self.charge = Some(pool.inflight.charge(&pool.spec.name, choice, env.now));
                env.workers.tell(env.shared, env.now);
                self.count("scheduled", env);
                let list: Vec<&str> = addresses.iter().map(|address| address.as_str()).collect();
                Action::Send { destination: list.join(",") }
            }
            Err(rejection) => {
                let outcome = match rejection {
                    Rejection::NoEndpoints => "no_endpoints",
                    Rejection::NoneCapable { .. } => "none_capable",
                    Rejection::Saturated { .. } => "saturated",
                };
                let reply = LocalReply::rejected(rejection, &pool.spec.profile, &pool.spec.name);
                self.refuse(reply, outcome, env)
            }
        }
    }

    fn explain(&mut self, decision: &Decision, current: &Current) {
        let explain = &self.pool.spec.explain;
        if explain.access_log || explain.response_header.is_some() {
            let profile = &self.pool.spec.profile;
            let explanation = Explanation::new(decision, profile, &current.snapshot, explain.max_endpoints);
            self.decision = serde_json::to_string(&explanation).ok();
        }
    }

    fn count_fallbacks(&self, decision: &Decision, env: &Env<'_>) {
        for fallback in &decision.fallbacks {
            let (rule, filter) = match fallback {
                Fallback::LeastBad { filter, .. } => ("least_bad", filter),
                Fallback::MetricsMissing { filter } => ("metrics_missing", filter),
            };
            let name = self.pool.spec.profile.filters.get(*filter).map_or("", |named| named.name.as_str());
            env.stats.count(&stats::FALLBACKS.with(&[&self.pool.spec.name, rule, name]), 1);
        }
    }
}

#[cfg(test)]
mod tests;
