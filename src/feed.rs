//! The root context's gRPC callbacks.

use headroom_filter::feed::{Feed, FeedEnv};
use proxy_wasm::traits::Context;

use crate::host::{self, Streams};
use crate::root::Root;
use crate::vm::Vm;

impl Root {
    /// Calls the feed with what it may use; without a configuration there is none.
    pub(crate) fn with_feed(&mut self, call: impl FnOnce(&mut Feed, &mut FeedEnv<'_>)) {
        let Some(in_force) = &mut self.in_force else { return };
        let vm = Vm::get();
        let mut rng = vm.rng();
        let mut env = FeedEnv {
            shared: &vm.host,
            stats: &vm.host,
            stream: &Streams { cluster: &in_force.feed_cluster },
            now: host::now(),
            rng: &mut rng,
        };
        call(&mut in_force.feed, &mut env);
    }
}

impl Context for Root {
    fn on_grpc_stream_message(&mut self, token: u32, size: usize) {
        let message = host::feed_message(size);
        self.with_feed(|feed, env| feed.on_message(token, &message, env));
    }

    fn on_grpc_stream_close(&mut self, token: u32, _status: u32) {
        self.with_feed(|feed, env| feed.on_close(token, env));
    }

    fn on_done(&mut self) -> bool {
        self.with_feed(|feed, env| feed.on_done(env));
        true
    }
}
