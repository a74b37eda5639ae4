//! A target for tests that does with its socket what it is told.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustls::ServerConfig;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};
use tokio_rustls::TlsAcceptor;

/// What a target does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Conduct {
    /// Answers 200 with this text.
    Text(String),
    /// Answers 200 with these headers and this body.
    Body(&'static str, Vec<u8>),
    /// Answers with this status line's end.
    Status(&'static str),
    /// Takes the connection and never says anything.
    Hang,
    /// Answers a byte each second.
    Trickle,
    /// Answers this many bytes.
    Huge(usize),
    /// Closes in the middle of the body.
    BreakOff,
    /// Sends headers without end.
    EndlessHeaders,
}

/// The target. Dropping it closes everything.
#[derive(Debug)]
pub(crate) struct RawTarget {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    conduct: Mutex<Conduct>,
    tls: Mutex<Option<Arc<ServerConfig>>>,
    head: Mutex<String>,
    requests: AtomicUsize,
    connections: AtomicUsize,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

struct UnderWay<'s>(&'s Shared);

impl<'s> UnderWay<'s> {
    /// Whoever gives up a request closes its connection before the next one, and that may be noticed later.
    async fn begin(shared: &'s Shared) -> Self {
        for _ in 0..100 {
            if shared.under_way.load(Ordering::SeqCst) == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let now = shared.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        shared.most_under_way.fetch_max(now, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

impl RawTarget {
    pub(crate) async fn start(conduct: Conduct) -> Self {
        Self::start_at("127.0.0.1:0", conduct, None).await
    }

    pub(crate) async fn secure(conduct: Conduct, tls: Arc<ServerConfig>) -> Self {
        Self::start_at("127.0.0.1:0", conduct, Some(tls)).await
    }

    pub(crate) async fn start_at(at: &str, conduct: Conduct, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind(at).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            conduct: Mutex::new(conduct),
            tls: Mutex::new(tls),
            head: Mutex::default(),
            requests: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
        });
        let server = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, server }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    pub(crate) fn secure_url(&self) -> String {
        format!("https://{}/metrics", self.address)
    }

    pub(crate) fn conduct(&self, conduct: Conduct) {
        *self.shared.conduct.lock().expect("not poisoned") = conduct;
    }

    /// Shows another certificate from now on; connections that are open are closed after their next answer.
    pub(crate) fn shows(&self, tls: Arc<ServerConfig>) {
        *self.shared.tls.lock().expect("not poisoned") = Some(tls);
    }

    pub(crate) fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn most_under_way(&self) -> usize {
        self.shared.most_under_way.load(Ordering::SeqCst)
    }

    /// The head of the latest request.
    pub(crate) fn head(&self) -> String {
        self.shared.head.lock().expect("not poisoned").clone()
    }
}

impl Drop for RawTarget {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await.expect("a connection");
        socket.set_nodelay(true).expect("an option");
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            shared.connections.fetch_add(1, Ordering::SeqCst);
            let tls = shared.tls.lock().expect("not poisoned").clone();
            // Whoever is refused or goes away is counted by the scraper.
            let _gone = match tls {
                None => serve(socket, &shared, None).await,
                Some(tls) => secure(socket, &shared, tls).await,
            };
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn secure(socket: TcpStream, shared: &Shared, tls: Arc<ServerConfig>) -> std::io::Result<()> {
    let socket = TlsAcceptor::from(Arc::clone(&tls)).accept(socket).await?;
    serve(socket, shared, Some(tls)).await
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut socket: S,
    shared: &Shared,
    shown: Option<Arc<ServerConfig>>,
) -> std::io::Result<()> {
    loop {
        if matches!(*shared.conduct.lock().expect("not poisoned"), Conduct::Hang) {
            let _under_way = UnderWay::begin(shared).await;
            return until_closed(&mut socket).await;
        }
        let head = head(&mut socket).await?;
        let _under_way = UnderWay::begin(shared).await;
        shared.requests.fetch_add(1, Ordering::SeqCst);
        *shared.head.lock().expect("not poisoned") = head;
        let conduct = shared.conduct.lock().expect("not poisoned").clone();
        answer(&mut socket, conduct).await?;
        let shows = shared.tls.lock().expect("not poisoned").clone();
        if shows.as_ref().map(Arc::as_ptr) != shown.as_ref().map(Arc::as_ptr) {
            return socket.shutdown().await;
        }
    }
}

async fn until_closed<S: AsyncRead + Unpin>(socket: &mut S) -> std::io::Result<()> {
    let mut bytes = [0; 1024];
    while socket.read(&mut bytes).await? > 0 {}
    Err(std::io::ErrorKind::ConnectionAborted.into())
}

async fn head<S: AsyncRead + Unpin>(socket: &mut S) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await?);
    }
    Ok(String::from_utf8(head).expect("text"))
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut S, conduct: Conduct) -> std::io::Result<()> {
    match conduct {
        Conduct::Text(text) => body(socket, "", text.as_bytes()).await,
        Conduct::Body(headers, bytes) => body(socket, headers, &bytes).await,
        Conduct::Status(status) => {
            socket.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes()).await
        }
        Conduct::Hang => until_closed(socket).await,
        Conduct::Trickle => {
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await?;
            loop {
                socket.write_all(b"#").await?;
                socket.flush().await?;
                let closed = tokio::time::timeout(Duration::from_secs(1), socket.read_u8()).await;
                closed.unwrap_or(Ok(0))?;
            }
        }
        Conduct::Huge(length) => {
            socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            let chunk = vec![b'#'; 1 << 16];
            for _ in 0..length.div_ceil(chunk.len()) {
                socket.write_all(&chunk).await?;
            }
            Err(std::io::ErrorKind::ConnectionAborted.into())
        }
        Conduct::BreakOff => {
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nvllm:").await?;
            socket.shutdown().await?;
            Err(std::io::ErrorKind::ConnectionAborted.into())
        }
        Conduct::EndlessHeaders => {
            socket.write_all(b"HTTP/1.1 200 OK\r\n").await?;
            loop {
                socket.write_all(b"x-more: and more and more and more and more\r\n").await?;
            }
        }
    }
}

async fn body<S: AsyncWrite + Unpin>(socket: &mut S, headers: &str, bytes: &[u8]) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", bytes.len());
    socket.write_all(&[head.as_bytes(), bytes].concat()).await?;
    socket.flush().await
}
