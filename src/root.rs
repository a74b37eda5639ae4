//! The root context: configuration and ticks.

use std::{rc::Rc, time::Duration};

use headroom_filter::config::Config;
use headroom_filter::feed::{Feed, TICK_MS};
use headroom_filter::pool::Pools;
use proxy_wasm::traits::{HttpContext, RootContext};
use proxy_wasm::types::{ContextType, LogLevel};

use crate::host;
use crate::route::Route;
use crate::vm::Vm;

/// One configuration in one VM. Without a configuration it does nothing.
#[derive(Debug, Default)]
pub(crate) struct Root {
    pub(crate) in_force: Option<InForce>,
}

#[derive(Debug)]
pub(crate) struct InForce {
    pub(crate) feed: Feed,
    pub(crate) feed_cluster: String,
    pools: Rc<Pools>,
}

impl RootContext for Root {
    /// Has no effect outside this VM: the proxy also runs it in a throw-away VM to try a config.
    fn on_configure(&mut self, size: usize) -> bool {
        let config = match Config::parse(&host::plugin_configuration(size)) {
            Ok(config) => config,
            Err(faults) => {
                for fault in faults {
                    host::log(LogLevel::Error, &format!("headroom: plugin config refused: {fault}"));
                }
                return false;
            }
        };
        self.with_feed(|feed, env| feed.on_done(env));
        let feed_cluster = config.feed.cluster.clone();
        let vm = Vm::get();
        let feed = Feed::new(config.feed.clone(), host::random().max(1), &vm.roster);
        let pools = Rc::new(Pools::new(config, &vm.workers.inflight));
        self.in_force = Some(InForce { feed, feed_cluster, pools });
        host::set_tick_period(Duration::from_millis(TICK_MS));
        true
    }

    fn on_tick(&mut self) {
        let vm = Vm::get();
        self.with_feed(|feed, env| {
            feed.on_tick(env);
            vm.workers.on_tick(feed.holds_lease(), env.shared, env.stats, env.now);
        });
        #[cfg(feature = "test-trap")]
        crate::trap::on_tick(self);
    }

    fn create_http_context(&self, _context_id: u32) -> Option<Box<dyn HttpContext>> {
        let pools = self.in_force.as_ref().map(|in_force| Rc::clone(&in_force.pools));
        Some(Box::new(Route::new(pools)))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}
