//! One subscriber: what it asked for, and how far it is.

use std::{sync::Arc, time::Duration};

use headroom_wire::feed::{Heartbeat, Subscribe, SubscribeRequest, subscribe_request, subscribe_response};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until, timeout},
};
use tonic::{Status, Streaming};

use super::{Hub, hub::PoolIndex, pool::Next};
use crate::admin::{FeedMessage, FeedMetrics};

/// A stream that has been silent for this long gets a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A subscriber that takes no message for this long is dropped.
const STUCK: Duration = Duration::from_secs(10);
/// A stream without a Subscribe is closed after this.
const SUBSCRIBE_WITHIN: Duration = Duration::from_secs(10);
/// More pools than one proxy has.
const MAX_POOLS: usize = 1024;
/// As in the config.
const MAX_NAME_CHARS: usize = 253;

/// A message on its way to the subscriber; the time is stamped when it is written.
pub(super) type Outgoing = Result<subscribe_response::Message, Status>;

/// Why a session ended. `None` in place of it: the subscriber is gone.
type Ended = Option<Status>;

#[derive(Debug)]
struct Wanted {
    name: String,
    pool: Option<PoolIndex>,
    cursor: Option<u64>,
}

/// What a subscriber gets next of one pool.
enum News {
    /// It knows everything.
    None,
    /// A snapshot, at this time at the latest.
    HeldBack(Instant),
    /// A message and its number.
    Message(subscribe_response::Message, u64),
}

/// The publisher's side of one stream. Nothing is queued for a slow subscriber: when it is ready for
/// more it gets the next delta, or a snapshot if that delta is no longer kept.
#[derive(Debug)]
pub(super) struct Session {
    hub: Arc<Hub>,
    metrics: FeedMetrics,
    outgoing: mpsc::Sender<Outgoing>,
    stopping: watch::Receiver<bool>,
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
        client: String,
    ) -> Self {
        Self { hub, metrics, outgoing, stopping, client, wanted: Vec::new(), last_sent: Instant::now() }
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
                        self.send(subscribe_response::Message::Heartbeat(Heartbeat {})).await?;
                    }
                }
                () = stopped(&mut self.stopping) => return Err(Some(shutting_down())),
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

    fn news_of(&self, wanted: &Wanted) -> News {
        let next = match (wanted.pool, wanted.cursor) {
            (Some(pool), None) => match self.hub.held_back_until(pool) {
                Some(until) => return News::HeldBack(until),
                None => self.hub.after(pool, None),
            },
            (Some(pool), cursor) => self.hub.after(pool, cursor),
            (None, None) => Next::Snapshot(self.hub.unknown(wanted.name.clone())),
            (None, Some(_)) => Next::UpToDate,
        };
        match next {
            Next::UpToDate => News::None,
            Next::Delta(delta) => {
                News::Message(subscribe_response::Message::Delta(delta.as_ref().clone()), delta.sequence)
            }
            Next::Snapshot(snapshot) => {
                if wanted.cursor.is_some() {
                    self.metrics.resnapshots.inc();
                }
                let sequence = snapshot.sequence;
                News::Message(subscribe_response::Message::Snapshot(snapshot), sequence)
            }
        }
    }

    async fn send(&mut self, message: subscribe_response::Message) -> Result<(), Ended> {
        let kind = match &message {
            subscribe_response::Message::Snapshot(_) => FeedMessage::Snapshot,
            subscribe_response::Message::Delta(_) => FeedMessage::Delta,
            subscribe_response::Message::Heartbeat(_) => FeedMessage::Heartbeat,
        };
        tokio::select! {
            sent = timeout(STUCK, self.outgoing.send(Ok(message))) => match sent {
                Ok(Ok(())) => {}
                Ok(Err(_closed)) => return Err(None),
                Err(_elapsed) => {
                    return Err(Some(Status::resource_exhausted("the subscriber takes no messages")));
                }
            },
            () = stopped(&mut self.stopping) => return Err(Some(shutting_down())),
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
                None => Wanted { pool: self.hub.find(&name), name, cursor: None },
            });
        }
        self.wanted = wanted;
        let names: Vec<&str> = self.wanted.iter().map(|wanted| wanted.name.as_str()).collect();
        let unknown = self.wanted.iter().filter(|wanted| wanted.pool.is_none()).count();
        tracing::info!(client = self.client, reader = client, pools = ?names, unknown, "subscribed");
        Ok(())
    }
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    let _stopped = stopping.wait_for(|stopping| *stopping).await;
}

fn shutting_down() -> Status {
    Status::unavailable("the publisher is shutting down")
}
