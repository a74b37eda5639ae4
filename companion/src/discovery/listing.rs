//! What a source of endpoints says.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use super::Member;

/// What a source says at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listing {
    /// Every endpoint that the source has; `None` until it could be asked for the first time. A source that
    /// cannot be asked any more keeps what it said last.
    pub(crate) members: Option<Vec<Member>>,
    /// What is wrong at the source, for people. Empty when all is well.
    pub(crate) problems: Vec<String>,
}

/// Where a source leaves its listings. Only the latest counts.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    listing: watch::Sender<Listing>,
    changed: Arc<Notify>,
}

impl Outlet {
    /// An outlet that calls `changed` for each listing that is not what was said before.
    pub(crate) fn new(changed: Arc<Notify>) -> (Self, watch::Receiver<Listing>) {
        let (listing, receiver) = watch::channel(Listing::default());
        (Self { listing, changed }, receiver)
    }

    /// Says which endpoints there are, and what is wrong beside that.
    pub(crate) fn list(&self, members: Vec<Member>, problems: Vec<String>) {
        self.say(Listing { members: Some(members), problems });
    }

    /// Says that the source cannot be read, and why; the endpoints stay as they are.
    pub(crate) fn fail(&self, problem: String) {
        let members = self.listing.borrow().members.clone();
        self.say(Listing { members, problems: vec![problem] });
    }

    fn say(&self, new: Listing) {
        let is_news = self.listing.send_if_modified(|listing| {
            let is_news = *listing != new;
            if is_news {
                *listing = new;
            }
            is_news
        });
        if is_news {
            self.changed.notify_one();
        }
    }
}
