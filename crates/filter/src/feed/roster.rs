//! Which root context of a VM speaks for a feed.
//!
//! A config change makes a new root context in the same VM, and the old one lives on, ticking, as long
//! as a stream that began under it. Only the newest of a feed takes part; when it goes, the one before
//! does again.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// The root contexts of one VM by the lease of their feed, oldest first. Clones are the same roster.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    feeds: Rc<RefCell<BTreeMap<String, Vec<u64>>>>,
}

impl Roster {
    /// Enters a root context; it is the newest.
    pub(super) fn enter(&self, lease: &str, id: u64) {
        if let Ok(mut feeds) = self.feeds.try_borrow_mut() {
            feeds.entry(lease.to_owned()).or_default().push(id);
        }
    }

    /// Takes a root context out.
    pub(super) fn leave(&self, lease: &str, id: u64) {
        if let Ok(mut feeds) = self.feeds.try_borrow_mut()
            && let Some(ids) = feeds.get_mut(lease)
        {
            ids.retain(|known| *known != id);
            if ids.is_empty() {
                feeds.remove(lease);
            }
        }
    }

    /// Whether the root context is the newest of its feed.
    pub(super) fn is_newest(&self, lease: &str, id: u64) -> bool {
        self.feeds.try_borrow().is_ok_and(|feeds| feeds.get(lease).and_then(|ids| ids.last()) == Some(&id))
    }
}
