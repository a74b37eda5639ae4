//! The gRPC service.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use headroom_wire::feed::{SubscribeRequest, endpoint_feed_server::SERVICE_NAME};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
};
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::{BoxFuture, Service, http, tokio_stream::Stream},
    server::{Grpc, NamedService, StreamingService},
    transport::Server,
};

use super::{
    Hub, ServerTls,
    drain::{DRAIN, told},
    encoded::{Encoded, FeedCodec},
    incoming::incoming,
    session::{Outgoing, Session, shutting_down},
};
use crate::admin::{FeedMetrics, Refusal};

/// A Subscribe with as many pools as allowed fits.
const MAX_REQUEST_BYTES: usize = 1 << 20;
/// A proxy that does not answer a ping in this time is gone.
const PING: Duration = Duration::from_secs(10);

/// How the feed is served.
#[derive(Debug)]
pub(crate) struct Settings {
    /// TLS, if it is served with it.
    pub(crate) tls: Option<ServerTls>,
    /// How many streams there may be at once.
    pub(crate) max_subscribers: usize,
    /// A longer message is not sent.
    pub(crate) max_message_bytes: usize,
}

#[derive(Debug)]
struct Feed {
    max_subscribers: usize,
    max_message_bytes: usize,
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
    settings: Settings,
    hub: Arc<Hub>,
    metrics: FeedMetrics,
    mut stopping: watch::Receiver<bool>,
) -> Result<(), tonic::transport::Error> {
    let Settings { tls, max_subscribers, max_message_bytes } = settings;
    let incoming = incoming(listener, tls, max_subscribers, metrics.clone());
    let feed = Feed {
        max_subscribers,
        max_message_bytes,
        hub,
        metrics: metrics.clone(),
        stopping: stopping.clone(),
    };
    Server::builder()
        .http2_keepalive_interval(Some(PING))
        .http2_keepalive_timeout(Some(PING))
        .add_service(FeedServer(Arc::new(feed)))
        .serve_with_incoming_shutdown(incoming, async move {
            told(&mut stopping).await;
            // Whoever comes now is told to go elsewhere.
            let _none_left = tokio::time::timeout(DRAIN, metrics.none_open()).await;
        })
        .await
}

impl Feed {
    fn subscribe(&self, request: Request<Streaming<SubscribeRequest>>) -> Result<Response<Outbound>, Status> {
        if *self.stopping.borrow() {
            self.metrics.refused(Refusal::Stopping);
            return Err(shutting_down());
        }
        let Some(subscriber) = self.metrics.subscriber(self.max_subscribers) else {
            self.metrics.refused(Refusal::TooMany);
            return Err(Status::resource_exhausted("this publisher has as many subscribers as it takes"));
        };
        let client = request.remote_addr().map(|address| address.to_string()).unwrap_or_default();
        let (sender, receiver) = mpsc::channel(1);
        let session = Session::new(
            Arc::clone(&self.hub),
            self.metrics.clone(),
            sender,
            self.stopping.clone(),
            self.max_message_bytes,
            client,
        );
        tokio::spawn(async move {
            session.run(request.into_inner()).await;
            drop(subscriber);
        });
        Ok(Response::new(Outbound(receiver)))
    }
}

/// The service `EndpointFeed`. What is generated for it encodes each message for each subscriber.
#[derive(Clone, Debug)]
struct FeedServer(Arc<Feed>);

impl NamedService for FeedServer {
    const NAME: &'static str = SERVICE_NAME;
}

impl Service<http::Request<Body>> for FeedServer {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move {
            if request.uri().path().rsplit_once('/').is_none_or(|(_, method)| method != "Subscribe") {
                return Ok(Status::unimplemented("the feed has no such method").into_http());
            }
            let mut grpc = Grpc::new(FeedCodec).apply_max_message_size_config(Some(MAX_REQUEST_BYTES), None);
            Ok(grpc.streaming(method, request).await)
        })
    }
}

impl StreamingService<SubscribeRequest> for FeedServer {
    type Response = Encoded;
    type ResponseStream = Outbound;
    type Future = Ready<Result<Response<Outbound>, Status>>;

    fn call(&mut self, request: Request<Streaming<SubscribeRequest>>) -> Self::Future {
        ready(self.0.subscribe(request))
    }
}

/// A session's messages.
#[derive(Debug)]
pub(super) struct Outbound(mpsc::Receiver<Outgoing>);

impl Stream for Outbound {
    type Item = Outgoing;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        self.0.poll_recv(cx)
    }
}
