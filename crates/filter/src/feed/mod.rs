//! Envoy's side of the feed: who holds it, its stream, and what it writes for the workers.
//!
//! Every root context has a [`Feed`] and ticks it. The one that holds the lease keeps the stream to
//! the companion and writes shared data; the others only watch the lease.

mod clock;
mod lease;
mod link;
mod roster;
mod writer;

use headroom_datalayer::Timestamp;
use headroom_wire::feed::{
    self as api, SubscribeRequest, SubscribeResponse, subscribe_request, subscribe_response::Message,
};
use prost::Message as _;

use crate::config::FeedSpec;
use crate::ports::{FeedStream, SharedData, Stats};
use crate::stats;

use clock::ClockOffset;
use lease::Lease;
use link::{Link, Next};
pub use roster::Roster;
use writer::{Gap, Writer};

/// How often a feed wants [`Feed::on_tick`], milliseconds.
pub const TICK_MS: u64 = 100;

/// What a feed may use.
pub struct FeedEnv<'a> {
    /// Where it writes.
    pub shared: &'a dyn SharedData,
    /// Metrics.
    pub stats: &'a dyn Stats,
    /// The stream.
    pub stream: &'a dyn FeedStream,
    /// The time.
    pub now: Timestamp,
    /// Spreads reconnects.
    pub rng: &'a mut fastrand::Rng,
}

impl std::fmt::Debug for FeedEnv<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FeedEnv").field("now", &self.now).finish_non_exhaustive()
    }
}

/// One root context's part in the feed.
#[derive(Debug)]
pub struct Feed {
    spec: FeedSpec,
    lease: Lease,
    roster: Roster,
    link: Link,
    clock: ClockOffset,
    writer: Writer,
}

impl Feed {
    /// A feed that holds nothing, the newest of its kind in the VM of `roster`; `id` tells the proxy's
    /// root contexts apart and is not zero.
    pub fn new(spec: FeedSpec, id: u64, roster: &Roster) -> Self {
        let lease = Lease::new(crate::keys::lease(&spec.cluster, &spec.pools), id);
        roster.enter(lease.key(), id);
        let writer = Writer::new(&spec);
        let link = Link::new(spec.silence);
        Self { spec, lease, roster: roster.clone(), link, clock: ClockOffset::default(), writer }
    }

    /// Whether this root context holds the lease.
    pub fn holds_lease(&self) -> bool {
        self.lease.is_held()
    }

    /// Time has passed.
    pub fn on_tick(&mut self, env: &mut FeedEnv<'_>) {
        if !self.roster.is_newest(self.lease.key(), self.lease.id()) {
            return self.hand_over(env);
        }
        let held_before = self.lease.is_held();
        let held = self.lease.tick(env.shared, env.now);
        if held && !held_before {
            env.stats.count(&stats::LEASES.with(&[&self.spec.cluster]), 1);
        }
        if !held {
            if held_before {
                self.drop_stream("lost_lease", env);
            }
            return;
        }
        env.stats.set(&stats::FEED_CONNECTED.with(&[&self.spec.cluster]), u64::from(self.link.is_live()));
        match self.link.on_tick(env.now) {
            Next::Nothing => {}
            Next::Open => self.open(env),
            Next::GiveUp => self.drop_stream("silent", env),
        }
    }

    /// A message has arrived on the stream `token`.
    pub fn on_message(&mut self, token: u32, bytes: &[u8], env: &mut FeedEnv<'_>) {
        if !self.link.is(token) {
            return;
        }
        // A holder that was held up may have lost the lease: what it wrote now would be over its heir's.
        if !self.lease.tick(env.shared, env.now) {
            return self.drop_stream("lost_lease", env);
        }
        let Ok(response) = SubscribeResponse::decode(bytes) else {
            self.count_message("invalid", env);
            return self.drop_stream("invalid", env);
        };
        self.link.on_message(env.now);
        let offset = self.clock.observe(env.now, Timestamp::from_micros(response.sent_at_us));
        let to_local = |theirs: Timestamp| theirs.offset(offset);
        let (kind, written) = match response.message {
            Some(Message::Snapshot(snapshot)) => {
                ("snapshot", self.writer.on_snapshot(snapshot, &to_local, env))
            }
            Some(Message::Delta(delta)) => ("delta", self.writer.on_delta(delta, &to_local, env)),
            // A message of a later version of the API says at least that the companion lives.
            Some(Message::Heartbeat(_)) | None => ("heartbeat", Ok(0)),
        };
        self.count_message(kind, env);
        match written {
            Ok(0) => {}
            Ok(dropped) => env.stats.count(&stats::FEED_DROPPED.with(&[&self.spec.cluster]), dropped),
            Err(Gap) => self.drop_stream("gap", env),
        }
    }

    /// The stream `token` has been closed by the other side or by the network.
    pub fn on_close(&mut self, token: u32, env: &mut FeedEnv<'_>) {
        // The proxy keeps an entry of a closed stream until it is cancelled.
        env.stream.cancel(token);
        if self.link.is(token) {
            self.ended("closed", env);
        }
    }

    /// The root context is going away: another shall take over at once.
    pub fn on_done(&mut self, env: &mut FeedEnv<'_>) {
        self.roster.leave(self.lease.key(), self.lease.id());
        self.hand_over(env);
    }

    /// Gives up what is held, so that another root context takes over at its next tick.
    fn hand_over(&mut self, env: &mut FeedEnv<'_>) {
        if self.lease.is_held() {
            env.stats.set(&stats::FEED_CONNECTED.with(&[&self.spec.cluster]), 0);
            self.drop_stream("lost_lease", env);
            self.lease.release(env.shared);
        }
    }

    fn open(&mut self, env: &mut FeedEnv<'_>) {
        self.clock = ClockOffset::default();
        let Some(token) = env.stream.open() else { return self.ended("refused", env) };
        self.link.opened(token, env.now);
        let request = SubscribeRequest {
            message: Some(subscribe_request::Message::Subscribe(api::Subscribe {
                pools: self.spec.pools.clone(),
                client: concat!("headroom.wasm/", env!("CARGO_PKG_VERSION")).to_owned(),
            })),
        };
        if !env.stream.send(token, &request.encode_to_vec()) {
            self.drop_stream("refused", env);
        }
    }

    fn drop_stream(&mut self, reason: &str, env: &mut FeedEnv<'_>) {
        if let Some(token) = self.link.token() {
            env.stream.cancel(token);
            self.ended(reason, env);
        }
    }

    fn ended(&mut self, reason: &str, env: &mut FeedEnv<'_>) {
        self.link.ended(env.now, env.rng);
        env.stats.count(&stats::FEED_ENDED.with(&[&self.spec.cluster, reason]), 1);
    }

    fn count_message(&self, kind: &str, env: &FeedEnv<'_>) {
        env.stats.count(&stats::FEED_MESSAGES.with(&[&self.spec.cluster, kind]), 1);
    }
}

#[cfg(test)]
mod tests;
