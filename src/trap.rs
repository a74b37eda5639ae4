//! Makes a VM trap on purpose: the end-to-end tests' way to see that another takes over.

use headroom_filter::ports::SharedData;

use crate::root::Root;
use crate::vm::Vm;

/// `self`: the VM that gets the request traps. `lease`: the one that holds the feed's lease does.
pub(crate) const HEADER: &str = "x-headroom-test-trap";

const KEY: &str = "headroom/test/trap";

pub(crate) fn on_request(wanted: Option<&str>) {
    match wanted {
        Some("self") => std::process::abort(),
        Some("lease") => {
            let _written = Vm::get().host.set(KEY, b"lease", None);
        }
        _ => {}
    }
}

pub(crate) fn on_tick(root: &Root) {
    let holds = root.in_force.as_ref().is_some_and(|in_force| in_force.feed.holds_lease());
    let host = &Vm::get().host;
    if holds && host.get(KEY).is_some_and(|stored| stored.bytes == b"lease") {
        let _cleared = host.set(KEY, b"", None);
        std::process::abort();
    }
}
