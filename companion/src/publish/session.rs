//! One subscriber: what it asked for, and how far it is.

use std::{sync::Arc, time::Duration};

use headroom_wire::feed::{
    Heartbeat, Subscribe, SubscribeRequest, subscribe_request, subscribe_response::Message,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until, timeout},
};
use tonic::{Status, Streaming};

use super::{Hub, drain::Drain, encoded::Encoded, hub::PoolIndex, pool::Next};
use crate::admin::FeedMetrics;

/// A stream that has been silent for this long gets a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A subscriber that takes no message for this long is dropped.
const STUCK: Duration = Duration::from_secs(10);
/// A stream without a Subscribe is closed after this.
const SUBSCRIBE_WITHIN: Duration = Duration::from_secs(10);
/// More pools than one proxy has.
const MAX_POOLS: usize = 1024;
/// After a message that is too long to be sent, the pool is left alone for this long.
const TOO_LONG: Duration = Duration::from_secs(10);
/// As in the config.
const MAX_NAME_CHARS: usize = 253;

/// A message on its way to the subscriber; the time is stamped when it is written.
pub(super) type Outgoing = Result<Encoded, Status>;

/// Why a session ended. `None` in place of it: the subscriber is gone.
type Ended = Option<Status>;

#[derive(Debug)]
struct Wanted {
    name: String,
    pool: Option<PoolIndex>,
    cursor: Option<u64>,
    /// When it is tried again, after a message that was too long.
    not_before: Option<Instant>,
}

/// What a subscriber gets next of one pool.
enum News {
    /// It knows everything.
    None,
    /// A message, at this time at the latest.
    HeldBack(Instant),
    /// A message and its number.
    Message(Encoded, u64),
}

/// The publisher's side of one stream. Nothing is queued for a slow subscriber: when it is ready for
/// more it gets the next delta, or a snapshot if that delta is no longer kept.
#[derive(Debug)]
pub(super) struct Session {
    hub: Arc<Hub>,
    metrics: FeedMetrics,
    outgoing: mpsc::Sender<Outgoing>,
    drain: Drain,
    max_message_bytes: usize,
    client: String,
    wanted: Vec<Wanted>,
    last_sent: Instant,
}

impl Session {
    pub(super) fn new(
        hub: Arc<Hub>,
        metrics: FeedMetrics,
        outgoing: mpsc::Sender<Outgoing>,
        stopping: watch::Receiver<bool>,
        max_message_bytes: usize,
        client: String,
    ) -> Self {
        let (drain, wanted, last_sent) = (Drain::new(stopping), Vec::new(), Instant::now());
        Self { hub, metrics, outgoing, drain, max_message_bytes, client, wanted, last_sent }
    }

    /// Serves the stream until either side ends it.
    pub(super) async fn run(mut self, incoming: Streaming<SubscribeRequest>) {
        match self.serve(incoming).await {
            Err(Some(status)) => {
                tracing::info!(client = self.client, "feed stream closed: {}", status.message());
                let _gone = timeout(HEARTBEAT, self.outgoing.send(Err(status))).await;
            }
            Err(None) | Ok(()) => tracing::info!(client = self.client, "subscriber is gone"),
        }
    }

    async fn serve(&mut self, mut incoming: Streaming<SubscribeRequest>) -> Result<(), Ended> {
        let mut wake = self.hub.listen();
        let subscribe_by = Instant::now() + SUBSCRIBE_WITHIN;
        let mut half_closed = false;
        loop {
            let held_back = self.send_news().await?;
            let heartbeat_at = self.last_sent + HEARTBEAT;
            let next_at = held_back.map_or(heartbeat_at, |at| at.min(heartbeat_at));
            tokio::select! {
                // Fails only when the hub is gone, and this session holds it.
                _changed = wake.changed() => {}
                request = incoming.message(), if !half_closed => match request {
                    Ok(Some(request)) => self.subscribe(request)?,
                    Ok(None) => half_closed = true,
                    Err(_broken) => return Err(None),
                },
                () = sleep_until(next_at) => {
                    if Instant::now() >= heartbeat_at {
                        self.send(Encoded::new(Message::Heartbeat(Heartbeat {}))).await?;
                    }
                }
                () = self.drain.over() => return Err(Some(shutting_down())),
                () = self.outgoing.closed() => return Err(None),
            }
            if self.wanted.is_empty() && (half_closed || Instant::now() >= subscribe_by) {
                return Err(Some(Status::invalid_argument(
                    "the first request must be a Subscribe with pools",
                )));
            }
        }
    }

    /// Sends everything that the subscriber does not know yet. Says until when a snapshot is held back.
    async fn send_news(&mut self) -> Result<Option<Instant>, Ended> {
        let mut held_back: Option<Instant> = None;
        for index in 0..self.wanted.len() {
            while let Some(wanted) = self.wanted.get(index) {
                let (message, sequence) = match self.news_of(wanted) {
                    News::None => break,
                    News::HeldBack(until) => {
                        held_back = Some(held_back.map_or(until, |at| at.min(until)));
                        break;
                    }
                    News::Message(message, _) if message.len() > self.max_message_bytes => {
                        self.too_long(index, &message);
                        continue;
                    }
                    News::Message(message, sequence) => (message, sequence),
                };
                self.send(message).await?;
                if let Some(wanted) = self.wanted.get_mut(index) {
                    wanted.cursor = Some(sequence);
                }
            }
        }
        Ok(held_back)
    }

    /// What cannot be sent would be made again and again for as long as nothing else is known.
    fn too_long(&mut self, index: usize, message: &Encoded) {
        self.metrics.oversized.inc();
        let (bytes, most) = (message.len(), self.max_message_bytes);
        if let Some(wanted) = self.wanted.get_mut(index) {
            wanted.not_before = Some(Instant::now() + TOO_LONG);
            let (client, pool, kind) = (&self.client, &wanted.name, message.kind);
            tracing::error!(client, pool, ?kind, bytes, most, "not sent: longer than feed.maxMessageBytes");
        }
    }

    fn news_of(&self, wanted: &Wanted) -> News {
        if let Some(at) = wanted.not_before.filter(|at| Instant::now() < *at) {
            return News::HeldBack(at);
        }
        let next = match (wanted.pool, wanted.cursor) {
            (Some(pool), None) => match self.hub.held_back_until(pool) {
                Some(until) => return News::HeldBack(until),
                None => self.hub.after(pool, None),
            },
            (Some(pool), cursor) => self.hub.after(pool, cursor),
            (None, None) => self.hub.unknown(wanted.name.clone()),
            (None, Some(_)) => Next::UpToDate,
        };
        match next {
            Next::UpToDate => News::None,
            Next::Delta(sequence, delta) => News::Message(delta, sequence),
            Next::Snapshot(sequence, snapshot) => {
                if wanted.cursor.is_some() {
                    self.metrics.resnapshots.inc();
                }
                News::Message(snapshot, sequence)
            }
        }
    }

    async fn send(&mut self, message: Encoded) -> Result<(), Ended> {
        let kind = message.kind;
        tokio::select! {
            sent = timeout(STUCK, self.outgoing.send(Ok(message))) => match sent {
                Ok(Ok(())) => {}
                Ok(Err(_closed)) => return Err(None),
                Err(_elapsed) => {
                    return Err(Some(Status::resource_exhausted("the subscriber takes no messages")));
                }
            },
            () = self.drain.over() => return Err(Some(shutting_down())),
        }
        self.metrics.count(kind);
        self.last_sent = Instant::now();
        Ok(())
    }

    /// Takes a Subscribe. A later one replaces the list; pools in both go on undisturbed.
    fn subscribe(&mut self, request: SubscribeRequest) -> Result<(), Ended> {
        let invalid = |reason: &str| Err(Some(Status::invalid_argument(reason.to_owned())));
        let Some(subscribe_request::Message::Subscribe(Subscribe { pools, client })) = request.message else {
            return invalid("a request must be a Subscribe");
        };
        if pools.is_empty() {
            return invalid("a Subscribe must name at least one pool");
        }
        if pools.len() > MAX_POOLS || pools.iter().any(|name| name.chars().count() > MAX_NAME_CHARS) {
            return invalid("a Subscribe may name up to 1024 pools of up to 253 characters");
        }
        let mut wanted: Vec<Wanted> = Vec::new();
        for name in pools {
            if wanted.iter().any(|known| known.name == name) {
                continue;
            }
            let known = self.wanted.iter().position(|known| known.name == name);
            wanted.push(match known {
                Some(at) => self.wanted.swap_remove(at),
                None => Wanted { pool: self.hub.find(&name), name, cursor: None, not_before: None },
            });
        }
        self.wanted = wanted;
        let names: Vec<&str> = self.wanted.iter().map(|wanted| wanted.name.as_str()).collect();
        let unknown = self.wanted.iter().filter(|wanted| wanted.pool.is_none()).count();
        tracing::info!(client = self.client, reader = client, pools = ?names, unknown, "subscribed");
        Ok(())
    }
}

/// Why nobody is served any more.
pub(super) fn shutting_down() -> Status {
    Status::unavailable("the publisher is shutting down")
}
