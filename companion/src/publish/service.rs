//! The gRPC service.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use headroom_wire::feed::{
    SubscribeRequest, SubscribeResponse,
    endpoint_feed_server::{EndpointFeed, EndpointFeedServer},
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
};
use tonic::{
    Request, Response, Status, Streaming,
    codegen::tokio_stream::Stream,
    transport::{Server, server::TcpIncoming},
};

use super::{
    Hub,
    session::{Outgoing, Session},
};
use crate::{admin::FeedMetrics, clock};

/// More proxies than one publisher is meant for.
const MAX_SUBSCRIBERS: i64 = 1024;
/// A Subscribe with as many pools as allowed fits.
const MAX_REQUEST_BYTES: usize = 1 << 20;
/// A proxy that does not answer a ping in this time is gone.
const PING: Duration = Duration::from_secs(10);

#[derive(Debug)]
struct Feed {
    hub: Arc<Hub>,
    metrics: FeedMetrics,
    stopping: watch::Receiver<bool>,
}

/// Serves the feed on `listener` until `stopping` turns true and every stream has ended.
///
/// # Errors
/// When the listener fails.
pub(crate) async fn serve(
    listener: TcpListener,
    hub: Arc<Hub>,
    metrics: FeedMetrics,
    mut stopping: watch::Receiver<bool>,
) -> Result<(), tonic::transport::Error> {
    let feed = Feed { hub, metrics, stopping: stopping.clone() };
    let service = EndpointFeedServer::new(feed).max_decoding_message_size(MAX_REQUEST_BYTES);
    Server::builder()
        .http2_keepalive_interval(Some(PING))
        .http2_keepalive_timeout(Some(PING))
        .add_service(service)
        .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), async move {
            let _stopped = stopping.wait_for(|stopping| *stopping).await;
        })
        .await
}

#[tonic::async_trait]
impl EndpointFeed for Feed {
    type SubscribeStream = Outbound;

    async fn subscribe(
        &self,
        request: Request<Streaming<SubscribeRequest>>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let Some(subscriber) = self.metrics.subscriber(MAX_SUBSCRIBERS) else {
            return Err(Status::resource_exhausted("this publisher has as many subscribers as it takes"));
        };
        let client = request.remote_addr().map(|address| address.to_string()).unwrap_or_default();
        let (sender, receiver) = mpsc::channel(1);
        let session =
            Session::new(Arc::clone(&self.hub), self.metrics.clone(), sender, self.stopping.clone(), client);
        tokio::spawn(async move {
            session.run(request.into_inner()).await;
            drop(subscriber);
        });
        Ok(Response::new(Outbound(receiver)))
    }
}

/// A session's messages, stamped as they are written.
#[derive(Debug)]
pub(super) struct Outbound(mpsc::Receiver<Outgoing>);

impl Stream for Outbound {
    type Item = Result<SubscribeResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|outgoing| {
            outgoing.map(|message| {
                message.map(|message| SubscribeResponse {
                    message: Some(message),
                    sent_at_us: clock::now().as_micros(),
                })
            })
        })
    }
}
