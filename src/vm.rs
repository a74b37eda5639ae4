//! What all contexts of one VM share. It outlives a configuration: old and new root contexts live in
//! the same VM for a moment, and requests that began under the old one end under the new.

use std::{cell::RefCell, rc::Rc};

use headroom_filter::feed::Roster;
use headroom_filter::workers::Workers;

use crate::host::{self, Host};

/// See the module.
#[derive(Debug)]
pub(crate) struct Vm {
    pub(crate) host: Host,
    pub(crate) workers: Workers,
    pub(crate) roster: Roster,
    /// Signs session tokens until the workers have agreed on one key.
    pub(crate) secret: Vec<u8>,
    rng: RefCell<fastrand::Rng>,
}

thread_local! {
    static VM: Rc<Vm> = Rc::new(Vm {
        host: Host::default(),
        workers: Workers::new(host::random()),
        roster: Roster::default(),
        secret: (0..4).flat_map(|_| host::random().to_le_bytes()).collect(),
        rng: RefCell::new(fastrand::Rng::with_seed(host::random())),
    });
}

impl Vm {
    pub(crate) fn get() -> Rc<Self> {
        VM.with(Rc::clone)
    }

    /// A generator of its own for one callback, so that none is held across a call of the proxy.
    pub(crate) fn rng(&self) -> fastrand::Rng {
        match self.rng.try_borrow_mut() {
            Ok(mut rng) => rng.fork(),
            Err(_) => fastrand::Rng::with_seed(host::random()),
        }
    }
}
