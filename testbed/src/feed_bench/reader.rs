//! A subscriber that watches how old the values are.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use headroom_wire::feed::{
    Sample, Subscribe, SubscribeRequest, endpoint_feed_client::EndpointFeedClient, subscribe_request,
    subscribe_response::Message,
};
use tonic::{
    codegen::tokio_stream::{self, StreamExt},
    transport::Channel,
};

/// When each value was measured, by endpoint and attribute, microseconds since the Unix epoch.
#[derive(Debug, Default)]
pub(crate) struct Ages(BTreeMap<String, BTreeMap<String, u64>>);

impl Ages {
    /// The age of the oldest value of the attribute, in milliseconds, and how many endpoints have one.
    pub(crate) fn oldest(&self, attribute: &str) -> (f64, usize) {
        let times = || self.0.values().filter_map(|known| known.get(attribute));
        let oldest = times().min().copied().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "an age")]
        let age = now().saturating_sub(oldest) as f64 / 1e3;
        (age, times().count())
    }

    fn note(&mut self, address: &str, samples: &[Sample]) {
        let known = self.0.entry(address.to_owned()).or_default();
        for sample in samples {
            known.insert(sample.attribute.clone(), sample.measured_at_us);
        }
    }
}

/// Subscribes, and hands what is known after each message to `look`, until that says stop.
pub(crate) async fn read(feed: &str, pool: &str, mut look: impl FnMut(&Ages) -> bool) -> anyhow::Result<()> {
    let channel = Channel::from_shared(format!("http://{feed}"))?.connect().await?;
    let mut client = EndpointFeedClient::new(channel).max_decoding_message_size(64 << 20);
    let subscribe = Subscribe { pools: vec![pool.to_owned()], client: "feed-bench".to_owned() };
    let request = SubscribeRequest { message: Some(subscribe_request::Message::Subscribe(subscribe)) };
    let requests = tokio_stream::iter([request]).chain(tokio_stream::pending());
    let mut stream = client.subscribe(requests).await?.into_inner();
    let mut ages = Ages::default();
    loop {
        match stream.message().await?.context("the feed has ended")?.message {
            Some(Message::Snapshot(snapshot)) => {
                snapshot
                    .endpoints
                    .iter()
                    .for_each(|endpoint| ages.note(&endpoint.address, &endpoint.samples));
            }
            Some(Message::Delta(delta)) => {
                delta.samples.iter().for_each(|changed| ages.note(&changed.address, &changed.samples));
            }
            _ => {}
        }
        if look(&ages) {
            return Ok(());
        }
    }
}

fn now() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX)
}
