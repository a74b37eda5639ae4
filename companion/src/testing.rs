//! What the tests of several modules need.

use std::{
    future::Future,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use headroom_wire::feed::{
    Subscribe, SubscribeRequest, SubscribeResponse, endpoint_feed_client::EndpointFeedClient,
    subscribe_request, subscribe_response,
};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};
use tonic::{
    Streaming,
    codegen::tokio_stream::{self, StreamExt, wrappers::ReceiverStream},
    transport::Channel,
};

/// Longer than anything that a test waits for takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// Waits until `check` gives something.
pub(crate) async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut check: impl FnMut() -> F,
) -> T {
    let started = tokio::time::Instant::now();
    loop {
        if let Some(value) = check().await {
            return value;
        }
        assert!(started.elapsed() < DEADLINE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What a target answers.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// 200 with this text.
    Text(String),
    /// This status.
    Status(u16),
    /// A redirect to this URL.
    Redirect(String),
    /// Nothing for this long, then 200 with this text.
    Late(Duration, String),
    /// Nothing, ever.
    Hang,
    /// 200 with a text that never ends.
    Endless,
}

/// An HTTP server in the place of an engine or exporter.
#[derive(Debug)]
pub(crate) struct FakeTarget {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    answer: Mutex<Answer>,
    requests: AtomicUsize,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
    connections: Mutex<Vec<SocketAddr>>,
}

struct UnderWay(Arc<Shared>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

impl FakeTarget {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            answer: Mutex::new(answer),
            requests: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
            connections: Mutex::default(),
        });
        let router = Router::new().fallback(answer_one).with_state(Arc::clone(&shared));
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let server = tokio::spawn(async move { axum::serve(listener, service).await.expect("serves") });
        Self { address, shared, server }
    }

    pub(crate) async fn text(text: impl Into<String>) -> Self {
        Self::start(Answer::Text(text.into())).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    pub(crate) fn answers(&self, answer: Answer) {
        *self.shared.answer.lock().expect("not poisoned") = answer;
    }

    pub(crate) fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn most_under_way(&self) -> usize {
        self.shared.most_under_way.load(Ordering::SeqCst)
    }

    /// How many connections requests came over.
    pub(crate) fn connections(&self) -> usize {
        let mut connections = self.shared.connections.lock().expect("not poisoned").clone();
        connections.sort_unstable();
        connections.dedup();
        connections.len()
    }

    /// Waits until the target was asked `more` times from here on.
    pub(crate) async fn asked(&self, more: usize) {
        let from = self.requests();
        eventually("a request", async || (self.requests() >= from + more).then_some(())).await;
    }
}

impl Drop for FakeTarget {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer_one(
    State(shared): State<Arc<Shared>>,
    axum::extract::ConnectInfo(peer): axum::extract::ConnectInfo<SocketAddr>,
) -> Response {
    let now = shared.under_way.fetch_add(1, Ordering::SeqCst) + 1;
    let _under_way = UnderWay(Arc::clone(&shared));
    shared.most_under_way.fetch_max(now, Ordering::SeqCst);
    shared.requests.fetch_add(1, Ordering::SeqCst);
    shared.connections.lock().expect("not poisoned").push(peer);
    let answer = shared.answer.lock().expect("not poisoned").clone();
    match answer {
        Answer::Text(text) => text.into_response(),
        Answer::Status(status) => StatusCode::from_u16(status).expect("a status").into_response(),
        Answer::Redirect(to) => (StatusCode::FOUND, [("location", to)]).into_response(),
        Answer::Late(pause, text) => {
            tokio::time::sleep(pause).await;
            text.into_response()
        }
        Answer::Hang => std::future::pending().await,
        Answer::Endless => {
            let line = || Ok::<_, std::io::Error>(format!("x 1{}\n", " ".repeat(1000)));
            Body::from_stream(tokio_stream::iter(std::iter::repeat_with(line))).into_response()
        }
    }
}

/// The request that subscribes to `pools`.
pub(crate) fn subscribe_to(pools: &[&str]) -> SubscribeRequest {
    let pools = pools.iter().map(ToString::to_string).collect();
    let message = subscribe_request::Message::Subscribe(Subscribe { pools, client: "test".to_owned() });
    SubscribeRequest { message: Some(message) }
}

/// A reader of the feed. Its end is that of its stream: the request stream ends with it.
#[derive(Debug)]
pub(crate) struct Reader {
    messages: Streaming<SubscribeResponse>,
    _requests: mpsc::Sender<SubscribeRequest>,
}

impl Reader {
    /// Connects and sends `requests`; the request stream stays open.
    pub(crate) async fn open(feed: SocketAddr, requests: Vec<SubscribeRequest>) -> Self {
        let channel =
            Channel::from_shared(format!("http://{feed}")).expect("a URL").connect().await.expect("connects");
        Self::over(channel, requests).await.expect("a stream")
    }

    /// The same over a connection.
    pub(crate) async fn over(
        channel: Channel,
        requests: Vec<SubscribeRequest>,
    ) -> Result<Self, tonic::Status> {
        let (sender, later) = mpsc::channel(1);
        let stream = tokio_stream::iter(requests).chain(ReceiverStream::new(later));
        let messages = EndpointFeedClient::new(channel).subscribe(stream).await?.into_inner();
        Ok(Self { messages, _requests: sender })
    }

    /// The next message, heartbeats included.
    pub(crate) async fn next(&mut self) -> Result<SubscribeResponse, tonic::Status> {
        let next = tokio::time::timeout(DEADLINE, self.messages.message()).await.expect("a message in time");
        next.map(|message| message.expect("the stream goes on"))
    }

    /// The next message that is no heartbeat.
    pub(crate) async fn news(&mut self) -> subscribe_response::Message {
        loop {
            match self.next().await.expect("no error").message.expect("a message") {
                subscribe_response::Message::Heartbeat(_) => {}
                news => return news,
            }
        }
    }
}
