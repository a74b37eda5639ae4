use headroom_datalayer::{Catalog, Span};
use headroom_wire::feed::{Delta, Endpoint, EndpointSamples, Heartbeat, Sample, Snapshot, sample};
use headroom_wire::shared::Shared;

use super::*;
use crate::keys::PoolKeys;
use crate::testing::{FakeShared, FakeStats, FakeStream};

struct World {
    shared: FakeShared,
    stats: FakeStats,
    stream: FakeStream,
    rng: fastrand::Rng,
}

impl World {
    fn new() -> Self {
        Self {
            shared: FakeShared::default(),
            stats: FakeStats::default(),
            stream: FakeStream::default(),
            rng: fastrand::Rng::with_seed(1),
        }
    }

    fn env(&mut self, now_ms: u64) -> FeedEnv<'_> {
        FeedEnv {
            shared: &self.shared,
            stats: &self.stats,
            stream: &self.stream,
            now: Timestamp::from_millis(now_ms),
            rng: &mut self.rng,
        }
    }

    fn endpoints(&self) -> Vec<String> {
        let stored = self.shared.get(&PoolKeys::new("c", "p").catalog);
        let catalog = stored.and_then(|stored| Catalog::decode(&stored.bytes).ok()).unwrap_or_default();
        catalog.endpoints.iter().map(|endpoint| endpoint.address.to_string()).collect()
    }

    fn ended(&self, reason: &str) -> i64 {
        self.stats.get(&format!("headroom_feed_ended_total.cluster=c.reason={reason}"))
    }
}

fn feed(id: u64) -> Feed {
    Feed::new(
        FeedSpec { cluster: "c".into(), pools: vec!["p".into()], silence: Span::from_secs(5) },
        id,
        &Roster::default(),
    )
}

fn message(message: Message) -> Vec<u8> {
    SubscribeResponse { message: Some(message), sent_at_us: 1_000 }.encode_to_vec()
}

fn snapshot(epoch: u64, sequence: u64, addresses: &[&str]) -> Vec<u8> {
    let endpoints =
        addresses.iter().map(|a| Endpoint { address: (*a).to_owned(), ..Default::default() }).collect();
    message(Message::Snapshot(Snapshot { pool: "p".into(), epoch, sequence, endpoints }))
}

fn delta(epoch: u64, sequence: u64, added: &str) -> Vec<u8> {
    let sample = Sample { attribute: "x".into(), value: Some(sample::Value::Number(1.0)), measured_at_us: 1 };
    message(Message::Delta(Delta {
        pool: "p".into(),
        epoch,
        sequence,
        upserted: vec![Endpoint { address: added.into(), ..Default::default() }],
        samples: vec![EndpointSamples { address: added.into(), samples: vec![sample], cleared: vec![] }],
        ..Default::default()
    }))
}

/// A feed that holds the lease and has an open stream.
fn connected(world: &mut World) -> (Feed, u32) {
    let mut feed = feed(1);
    feed.on_tick(&mut world.env(10_000));
    let token = *world.stream.opened.borrow();
    assert_eq!(world.stream.sent.borrow().last().expect("subscribed").0, token);
    (feed, token)
}

#[test]
fn only_the_holder_of_the_lease_opens_a_stream_and_it_subscribes() {
    let mut world = World::new();
    let (_feed, _) = connected(&mut world);
    feed(2).on_tick(&mut world.env(10_001));
    assert_eq!(*world.stream.opened.borrow(), 1);
    let (_, bytes) = world.stream.sent.borrow()[0].clone();
    let request = SubscribeRequest::decode(bytes.as_slice()).expect("a request");
    let Some(subscribe_request::Message::Subscribe(subscribe)) = request.message else {
        panic!("not a subscribe")
    };
    assert_eq!(subscribe.pools, ["p"]);
}

#[test]
fn a_snapshot_and_its_deltas_reach_shared_data() {
    let mut world = World::new();
    let (mut feed, token) = connected(&mut world);
    feed.on_message(token, &snapshot(7, 0, &["10.0.0.1:1", "bad"]), &mut world.env(10_100));
    assert_eq!(world.endpoints(), ["10.0.0.1:1"]);
    assert_eq!(world.stats.get("headroom_feed_dropped_values_total.cluster=c"), 1);
    feed.on_tick(&mut world.env(10_150));
    assert_eq!(world.stats.get("headroom_feed_connected.cluster=c"), 1);
    feed.on_message(token, &delta(7, 1, "10.0.0.2:1"), &mut world.env(10_200));
    assert_eq!(world.endpoints(), ["10.0.0.1:1", "10.0.0.2:1"]);
    feed.on_message(token + 1, &snapshot(8, 0, &[]), &mut world.env(10_300));
    assert_eq!(world.endpoints().len(), 2, "another stream's message");
}

#[test]
fn a_gap_a_new_epoch_or_noise_drops_the_stream_and_keeps_what_is_known() {
    for (bytes, reason) in
        [(delta(7, 2, "10.0.0.3:1"), "gap"), (delta(8, 1, "10.0.0.3:1"), "gap"), (vec![0xff; 9], "invalid")]
    {
        let mut world = World::new();
        let (mut feed, token) = connected(&mut world);
        feed.on_message(token, &snapshot(7, 0, &["10.0.0.1:1"]), &mut world.env(10_100));
        feed.on_message(token, &bytes, &mut world.env(10_200));
        assert_eq!(world.stream.cancelled.borrow().as_slice(), [token], "{reason}");
        assert_eq!(world.ended(reason), 1);
        assert_eq!(world.endpoints(), ["10.0.0.1:1"]);
        for now in [10_250, 10_300, 10_400] {
            feed.on_tick(&mut world.env(now));
        }
        assert_eq!(*world.stream.opened.borrow(), 2, "subscribes anew");
    }
    let mut world = World::new();
    let (mut feed, token) = connected(&mut world);
    feed.on_message(token, &delta(0, 1, "10.0.0.3:1"), &mut world.env(10_100));
    assert_eq!(world.ended("gap"), 1, "a delta before any snapshot");
}

#[test]
fn silence_is_a_dead_stream_and_a_heartbeat_is_not_silence() {
    let mut world = World::new();
    let (mut feed, token) = connected(&mut world);
    // Ticks keep the lease.
    (10_000..14_000).step_by(100).for_each(|now| feed.on_tick(&mut world.env(now)));
    feed.on_message(token, &message(Message::Heartbeat(Heartbeat {})), &mut world.env(14_000));
    (14_000..18_900).step_by(100).for_each(|now| feed.on_tick(&mut world.env(now)));
    assert!(world.stream.cancelled.borrow().is_empty());
    feed.on_tick(&mut world.env(19_100));
    assert_eq!((world.stream.cancelled.borrow().as_slice(), world.ended("silent")), (&[token][..], 1));
    feed.on_tick(&mut world.env(19_101));
    assert_eq!(world.stats.get("headroom_feed_connected.cluster=c"), 0);
}

#[test]
fn a_closed_stream_is_freed_and_reopened_after_growing_waits() {
    let mut world = World::new();
    let (mut feed, _) = connected(&mut world);
    let mut now = 10_000;
    for round in 1..=8_u32 {
        feed.on_close(round, &mut world.env(now));
        assert_eq!(*world.stream.cancelled.borrow().last().expect("freed"), round);
        let closed_at = now;
        while *world.stream.opened.borrow() == round {
            now += TICK_MS;
            feed.on_tick(&mut world.env(now));
            assert!(now - closed_at <= 2_100, "a companion that is back is found within 2 s");
        }
    }
    assert!(now > 10_000 + 2_000, "waits grow");
    *world.stream.refuse.borrow_mut() = true;
    feed.on_close(9, &mut world.env(now));
    feed.on_tick(&mut world.env(now + 2_100));
    assert_eq!(world.ended("refused"), 1);
}

#[test]
fn a_root_that_goes_away_hands_over_at_once() {
    let mut world = World::new();
    let (mut old, token) = connected(&mut world);
    old.on_done(&mut world.env(10_100));
    assert_eq!(world.stream.cancelled.borrow().as_slice(), [token]);
    let mut new = feed(2);
    new.on_tick(&mut world.env(10_101));
    assert!(new.holds_lease() && !old.holds_lease());
    assert_eq!(*world.stream.opened.borrow(), 2);
}

#[test]
fn a_holder_that_overslept_gives_way() {
    let mut world = World::new();
    let (mut slept, token) = connected(&mut world);
    let mut other = feed(2);
    other.on_tick(&mut world.env(12_500));
    assert!(other.holds_lease());
    slept.on_tick(&mut world.env(12_600));
    assert!(!slept.holds_lease());
    assert_eq!(world.stream.cancelled.borrow().as_slice(), [token]);
    assert_eq!(world.ended("lost_lease"), 1);
}

#[test]
fn a_lease_that_comes_back_finds_the_workers_reading_on() {
    let mut world = World::new();
    let pools = crate::config::Config::parse(br#"{"feed": {"cluster": "c"}, "pools": [{"name": "p"}]}"#)
        .expect("valid");
    let pools = crate::pool::Pools::new(pools, &crate::inflight::Inflight::default());
    let pool = pools.of_cluster("p").expect("a pool");
    let version = |world: &World| pool.current(&world.shared).map(|current| current.snapshot.version());
    let (mut a, token) = connected(&mut world);
    a.on_message(token, &snapshot(7, 0, &["10.0.0.1:1"]), &mut world.env(10_100));
    let first = version(&world);
    assert!(first.is_some());
    // a is held up; b takes over and writes; a wakes with a message in its queue, which it must not write.
    let mut b = feed(2);
    b.on_tick(&mut world.env(13_000));
    let token_b = *world.stream.opened.borrow();
    b.on_message(token_b, &snapshot(7, 5, &["10.0.0.1:1"]), &mut world.env(13_100));
    let second = version(&world);
    a.on_message(token, &delta(7, 1, "10.0.0.9:1"), &mut world.env(13_200));
    assert_eq!(world.endpoints(), ["10.0.0.1:1"]);
    assert!(second > first && !a.holds_lease());
    // b is held up; a has the lease again.
    a.on_tick(&mut world.env(16_000));
    a.on_tick(&mut world.env(16_300));
    let token_a = *world.stream.opened.borrow();
    a.on_message(token_a, &snapshot(7, 9, &["10.0.0.1:1"]), &mut world.env(16_400));
    assert!(version(&world) > second, "the workers see what the old and new holder writes");
}

#[test]
fn two_feeds_of_one_pool_do_not_lock_each_other_out() {
    let mut world = World::new();
    let json = br#"{"feed": {"cluster": "c"}, "pools": [{"name": "p"}]}"#;
    let config = crate::config::Config::parse(json).expect("valid");
    let pools = crate::pool::Pools::new(config, &crate::inflight::Inflight::default());
    let pool = pools.of_cluster("p").expect("a pool");
    let (mut a, token_a) = connected(&mut world);
    a.on_message(token_a, &snapshot(7, 0, &["10.0.0.1:1"]), &mut world.env(10_100));
    // Another config has this pool among others, so it has a lease of its own.
    let spec =
        FeedSpec { cluster: "c".into(), pools: vec!["o".into(), "p".into()], silence: Span::from_secs(5) };
    let mut b = Feed::new(spec, 2, &Roster::default());
    b.on_tick(&mut world.env(10_200));
    let token_b = *world.stream.opened.borrow();
    b.on_message(token_b, &snapshot(7, 0, &["10.0.0.1:1"]), &mut world.env(10_300));
    for (sequence, now) in [(1, 10_400), (2, 10_500)] {
        a.on_message(token_a, &delta(7, sequence, "10.0.0.1:1"), &mut world.env(now));
        let seen = pool.current(&world.shared).expect("known").snapshot.updated_at();
        assert_eq!(seen, Timestamp::from_millis(now), "the workers see what is written");
        b.on_message(token_b, &delta(7, sequence, "10.0.0.1:1"), &mut world.env(now + 50));
        let seen = pool.current(&world.shared).expect("known").snapshot.updated_at();
        assert_eq!(seen, Timestamp::from_millis(now + 50));
    }
}

#[test]
fn an_old_root_that_lives_on_gives_way_to_the_new_one_and_stands_in_when_that_goes() {
    let (mut world, roster) = (World::new(), Roster::default());
    let spec = || FeedSpec { cluster: "c".into(), pools: vec!["p".into()], silence: Span::from_secs(5) };
    let mut old = Feed::new(spec(), 1, &roster);
    old.on_tick(&mut world.env(10_000));
    assert!(old.holds_lease());
    let mut new = Feed::new(spec(), 2, &roster);
    old.on_tick(&mut world.env(10_100));
    new.on_tick(&mut world.env(10_101));
    assert!(new.holds_lease() && !old.holds_lease());
    assert_eq!(world.stream.cancelled.borrow().as_slice(), [1]);
    old.on_tick(&mut world.env(14_000));
    assert!(!old.holds_lease(), "not even when the lease has run out");
    new.on_done(&mut world.env(14_100));
    old.on_tick(&mut world.env(14_101));
    assert!(old.holds_lease());
}
