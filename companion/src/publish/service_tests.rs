use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use headroom_datalayer::{ATTRIBUTES, Address, Combine, Endpoint, Sample, Timestamp, Value};
use headroom_wire::feed::subscribe_response::Message;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use tonic::{
    Code, Status,
    codegen::{BoxFuture, Service, http::Uri},
    transport::{Channel, Endpoint as Server},
};

use super::{
    Settings,
    pool::{Next, PoolFeed},
    tests::{change, next_delta, next_snapshot, publisher, publisher_with, settings},
};
use crate::{
    discovery::Access,
    testing::{Reader, eventually, subscribe_to},
    tls::{
        ServerFiles, client_config,
        testing::{Authority, Files},
        watch_server,
    },
};

/// Connects with TLS, for HTTP/2.
struct Secure {
    to: SocketAddr,
    config: Arc<ClientConfig>,
}

impl Service<Uri> for Secure {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = std::io::Error;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(
        &mut self,
        _uri: Uri,
    ) -> Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>> {
        let (to, connector) = (self.to, TlsConnector::from(Arc::clone(&self.config)));
        Box::pin(async move {
            let name = "feed.test".try_into().expect("a name");
            Ok(TokioIo::new(connector.connect(name, TcpStream::connect(to).await?).await?))
        })
    }
}

/// A subscription over TLS, or what the reader hears in place of one.
async fn subscribe_securely(to: SocketAddr, access: &Access) -> Result<Reader, String> {
    let mut config = client_config(access).expect("the files are good");
    config.alpn_protocols = vec![b"h2".to_vec()];
    let server = Server::from_static("http://feed.test");
    let connector = Secure { to, config: Arc::new(config) };
    let channel = server.connect_with_connector(connector).await.map_err(|error| format!("{error:?}"))?;
    let mut reader =
        Reader::over(channel, vec![subscribe_to(&["p"])]).await.map_err(|status| status.to_string())?;
    // A server that refuses a certificate says so after the client's handshake.
    reader.next().await.map_err(|status| status.to_string())?;
    Ok(reader)
}

#[tokio::test]
async fn only_whose_certificate_is_known_is_served_and_the_files_are_read_again() {
    let (servers, clients, others) = (Authority::new("s"), Authority::new("c"), Authority::new("o"));
    let files = Files::new();
    let (cert, key) = files.identity("server", &servers.issue(&["feed.test"]));
    let client_ca = Some(files.write("clients.pem", &clients.pem));
    let tls = watch_server(ServerFiles { cert, key, client_ca });
    let publisher = publisher_with(7, Settings { tls: Some(tls), ..settings() }).await;

    let nobody = Access { ca: Some(files.write("ca.pem", &servers.pem)), ..Access::default() };
    let with = |identity| Access { identity: Some(identity), ..nobody.clone() };
    let known = with(files.identity("known", &clients.issue(&["envoy"])));
    let stranger = with(files.identity("stranger", &others.issue(&["envoy"])));
    let mut open = subscribe_securely(publisher.feed, &known).await.expect("served");
    subscribe_securely(publisher.feed, &nobody).await.expect_err("no certificate");
    subscribe_securely(publisher.feed, &stranger).await.expect_err("an unknown certificate");
    assert!(publisher.metrics.refusals_of("handshake") >= 2);
    let plain = Channel::from_shared(format!("http://{}", publisher.feed)).expect("a URL").connect().await;
    let served = match plain {
        Ok(channel) => Reader::over(channel, vec![subscribe_to(&["p"])]).await.map(|_| ()),
        Err(_) => Err(Status::unavailable("")),
    };
    served.expect_err("no TLS");

    files.identity("server", &others.issue(&["feed.test"]));
    files.write("clients.pem", &others.pem);
    let stranger = Access { ca: Some(files.write("other.pem", &others.pem)), ..stranger };
    eventually("the new files count", async || subscribe_securely(publisher.feed, &stranger).await.ok())
        .await;
    subscribe_securely(publisher.feed, &known).await.expect_err("both certificates have changed");
    publisher.hub.submit(0, vec![change(1, "A", Some((1.0, 1)))]);
    next_delta(&mut open).await;
}

#[tokio::test]
async fn one_subscriber_too_many_is_refused_until_another_leaves() {
    let publisher = publisher_with(7, Settings { max_subscribers: 2, ..settings() }).await;
    let subscribe = async || {
        let channel =
            Channel::from_shared(format!("http://{}", publisher.feed)).expect("a URL").connect().await;
        Reader::over(channel.expect("connects"), vec![subscribe_to(&["p"])]).await
    };
    let first = subscribe().await.expect("served");
    let _second = subscribe().await.expect("served");
    let refused = subscribe().await.expect_err("one too many");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(publisher.metrics.refusals_of("too_many"), 1);
    drop(first);
    eventually("a place is free", async || subscribe().await.ok()).await;
}

#[tokio::test]
async fn a_message_that_is_too_long_is_counted_and_the_stream_goes_on() {
    let publisher = publisher_with(7, Settings { max_message_bytes: 1_000, ..settings() }).await;
    let mut reader = Reader::open(publisher.feed, vec![subscribe_to(&["p", "nobody"])]).await;
    assert_eq!(next_snapshot(&mut reader).await.pool, "p");
    assert_eq!(next_snapshot(&mut reader).await.pool, "nobody");
    let long =
        Sample { value: Value::Names(vec!["x".repeat(1_000)]), measured_at: Timestamp::from_millis(1) };
    publisher.hub.submit(0, vec![("10.0.0.1:1".parse().expect("an address"), "L".to_owned(), Some(long))]);
    let counted = async || (publisher.metrics.oversized.get() > 0).then_some(());
    eventually("the message is counted", counted).await;
    for _ in 0..2 {
        let message = reader.next().await.expect("no error").message;
        assert!(matches!(message, Some(Message::Heartbeat(_))), "{message:?}");
    }
    assert_eq!(publisher.metrics.oversized.get(), 1, "it is not made again and again");
}

#[tokio::test]
async fn who_stops_refuses_new_streams_and_ends_the_others_after_a_grace() {
    let publisher = publisher().await;
    let channel = Channel::from_shared(format!("http://{}", publisher.feed)).expect("a URL").connect().await;
    let channel = channel.expect("connects");
    let mut reader = Reader::over(channel.clone(), vec![subscribe_to(&["p"])]).await.expect("served");
    let start = next_snapshot(&mut reader).await.sequence;
    publisher.stop.send(true).expect("somebody listens");
    let refused = Reader::over(channel, vec![subscribe_to(&["p"])]).await.expect_err("it stops");
    assert_eq!((refused.code(), refused.message()), (Code::Unavailable, "the publisher is shutting down"));
    assert_eq!(publisher.metrics.refusals_of("stopping"), 1);
    publisher.hub.submit(0, vec![change(1, "A", Some((1.0, 1)))]);
    assert_eq!(next_delta(&mut reader).await.sequence, start + 1, "what is open goes on");
    let ended = loop {
        if let Err(status) = reader.next().await {
            break status;
        }
    };
    assert_eq!((ended.code(), ended.message()), (Code::Unavailable, "the publisher is shutting down"));
}

#[tokio::test]
async fn a_reader_between_two_publishers_never_mixes_their_sequences() {
    let (a, b) = (publisher_with(7, settings()).await, publisher_with(8, settings()).await);
    for step in 0..6_u64 {
        let (here, there) = if step % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let mut reader = Reader::open(here.feed, vec![subscribe_to(&["p"])]).await;
        let snapshot = next_snapshot(&mut reader).await;
        assert_eq!(snapshot.epoch, 7 + step % 2);
        for change_number in 1..=3_u64 {
            for publisher in [there, here] {
                publisher.hub.submit(0, vec![change(1, "A", Some((0.5, 10 * step + change_number)))]);
            }
            let delta = next_delta(&mut reader).await;
            assert_eq!((delta.epoch, delta.sequence), (snapshot.epoch, snapshot.sequence + change_number));
        }
    }
}

/// A pool of 4,096 endpoints with a value of each attribute.
fn large_pool() -> PoolFeed {
    let mut pool = PoolFeed::new("p".to_owned(), 7);
    let address =
        |n: usize| -> Address { format!("10.0.{}.{}:8000", n / 256, n % 256).parse().expect("valid") };
    let endpoint = |n| {
        let labels = [("llm-d.ai/role", "decode"), ("topology.kubernetes.io/zone", "eu-central-1a")];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Endpoint { address: address(n), name: format!("vllm-qwen3-decode-6c9f7d5b8-{n:05}"), labels }
    };
    pool.set_endpoints((0..4_096).map(endpoint).collect());
    for n in 0..4_096 {
        let values = ATTRIBUTES.iter().map(|info| {
            let value = match info.combine {
                Combine::Union => Value::Names(vec!["Qwen/Qwen3-235B-A22B-Instruct".to_owned()]),
                _ => Value::number(0.123_456_789).expect("finite"),
            };
            let measured_at = Timestamp::from_micros(1_800_000_000_000_000);
            (address(n), info.name.to_owned(), Some(Sample { value, measured_at }))
        });
        pool.submit(values.collect());
    }
    pool.flush();
    pool
}

#[test]
fn the_largest_pool_fits_into_a_message_four_times_over() {
    let Next::Snapshot(_, whole) = large_pool().after(None) else { panic!("no snapshot") };
    println!("{} attributes, {} bytes", ATTRIBUTES.len(), whole.len());
    assert!(4 * whole.len() < settings().max_message_bytes, "{} bytes", whole.len());
}
