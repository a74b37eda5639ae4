//! The HTTP context: one request and its response.

use std::rc::Rc;

use headroom_filter::exchange::{self, Env, Exchange, Head, Response};
use headroom_filter::headers::{CLIENT_MAY_NOT_SEND, DESTINATION};
use headroom_filter::pool::Pools;
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

use crate::host;
use crate::vm::Vm;

/// Filter state that holds the decision; the access log shows it as `wasm.headroom_decision`.
const DECISION_STATE: &str = "headroom_decision";

/// Response flags: the endpoint reset the stream (UR), or closed its connection (UC).
const BROKE: u64 = 0x10 | 0x40;

/// One request. Its exchange is there only when a pool schedules it.
#[derive(Debug)]
pub(crate) struct Route {
    pools: Option<Rc<Pools>>,
    exchange: Option<Exchange>,
    awaiting_body: bool,
    body_size: usize,
}

/// Calls with what an exchange may use.
fn with_env<T>(call: impl FnOnce(&mut Env<'_>) -> T) -> T {
    let vm = Vm::get();
    let mut rng = vm.rng();
    call(&mut Env {
        shared: &vm.host,
        stats: &vm.host,
        workers: &vm.workers,
        now: host::now(),
        rng: &mut rng,
        secret: &vm.secret,
    })
}

impl Route {
    pub(crate) fn new(pools: Option<Rc<Pools>>) -> Self {
        Self { pools, exchange: None, awaiting_body: false, body_size: 0 }
    }

    /// Calls the exchange with what it may use and does what it says.
    fn step(&mut self, call: impl FnOnce(&mut Exchange, &mut Env<'_>) -> exchange::Action) -> Action {
        let Some(exchange) = &mut self.exchange else { return Action::Continue };
        let action = with_env(|env| call(exchange, env));
        self.awaiting_body = action == exchange::Action::AwaitBody;
        if !self.awaiting_body
            && let Some(decision) = exchange.decision_for_log()
        {
            host::set_filter_state(DECISION_STATE, decision);
        }
        match action {
            exchange::Action::Pass => Action::Continue,
            exchange::Action::AwaitBody => Action::Pause,
            exchange::Action::Send { destination, headers } => {
                for (name, value) in &headers {
                    host::set_request_header(name, value);
                }
                host::set_request_header(DESTINATION, &destination);
                Action::Continue
            }
            exchange::Action::Reply(reply) => {
                host::reply(&reply);
                Action::Pause
            }
        }
    }

    /// The route's cluster names the pool.
    fn find_exchange(&mut self) {
        let cluster = host::property(&["xds", "cluster_name"]).unwrap_or_default();
        self.exchange = self.pools.as_ref().and_then(|pools| Exchange::of(pools, &cluster));
    }

    fn body_is_whole(&mut self) -> Action {
        let body = host::request_body(self.body_size);
        self.step(|exchange, env| exchange.on_request_body(&body, env))
    }
}

impl Context for Route {}

impl HttpContext for Route {
    fn on_http_request_headers(&mut self, _count: usize, end_of_stream: bool) -> Action {
        self.find_exchange();
        if self.exchange.is_none() {
            return Action::Continue;
        }
        let removed = CLIENT_MAY_NOT_SEND.iter().filter(|name| host::remove_request_header(name)).count();
        if removed > 0 {
            // The proxy has matched the route again.
            self.find_exchange();
        }
        let Some(exchange) = &self.exchange else { return Action::Continue };
        let headers = exchange.headers().iter();
        let headers = headers.filter_map(|name| Some((name.clone(), host::request_header(name)?))).collect();
        #[cfg(feature = "test-trap")]
        crate::trap::on_request(host::request_header(crate::trap::HEADER).as_deref());
        let method = host::request_header(":method").unwrap_or_default();
        let path = host::request_header(":path").unwrap_or_default();
        let content_length = host::request_header("content-length").and_then(|text| text.parse().ok());
        let head = Head { method: &method, path: &path, content_length, end_of_stream, headers };
        self.step(|exchange, env| exchange.on_request_headers(head, env))
    }

    fn on_http_request_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        if !self.awaiting_body {
            return Action::Continue;
        }
        self.body_size = size;
        let action = self.step(|exchange, env| exchange.on_request_body_growing(size, env));
        if end_of_stream && self.awaiting_body { self.body_is_whole() } else { action }
    }

    /// With trailers the body never says that it ends.
    fn on_http_request_trailers(&mut self, _count: usize) -> Action {
        if self.awaiting_body { self.body_is_whole() } else { Action::Continue }
    }

    fn on_http_response_headers(&mut self, _count: usize, _end_of_stream: bool) -> Action {
        if let Some(exchange) = &mut self.exchange {
            let upstream = host::property(&["upstream", "address"]);
            let status = host::response_header(":status").and_then(|status| status.parse().ok());
            let response = Response { upstream: upstream.as_deref(), status };
            for (name, value) in with_env(|env| exchange.on_response_headers(&response, env)) {
                host::set_response_header(&name, &value);
            }
        }
        Action::Continue
    }

    fn on_log(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            let broke = host::number_property(&["response", "flags"]).is_some_and(|flags| flags & BROKE != 0);
            with_env(|env| exchange.on_end(broke, env));
        }
    }
}
