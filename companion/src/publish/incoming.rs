//! Connections to the feed, with TLS or without.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use rustls::ServerConfig;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tonic::{
    codegen::tokio_stream::Stream,
    transport::server::{Connected, TcpConnectInfo},
};

use crate::{
    admin::{FeedMetrics, Refusal},
    tls::{Watched, handshake_fault},
};

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted, for instance because there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// Connections beyond those of the most subscribers there may be, so that who comes too late hears why.
const SPARE: usize = 256;

/// TLS of the feed, as its files have it.
pub(crate) type ServerTls = Watched<Arc<ServerConfig>>;

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A connection that speaks HTTP/2, or is about to.
pub(super) struct Connection {
    io: Box<dyn Io>,
    info: TcpConnectInfo,
    _permit: OwnedSemaphorePermit,
}

/// The connections to `listener` whose handshake was done.
pub(super) fn incoming(
    listener: TcpListener,
    tls: Option<ServerTls>,
    max_subscribers: usize,
    metrics: FeedMetrics,
) -> Incoming {
    let (sender, receiver) = mpsc::channel(1);
    let permits = Arc::new(Semaphore::new(max_subscribers.saturating_add(SPARE)));
    tokio::spawn(async move {
        tokio::select! {
            () = accept(&listener, tls, permits, metrics, &sender) => {}
            () = sender.closed() => {}
        }
    });
    Incoming(receiver)
}

async fn accept(
    listener: &TcpListener,
    tls: Option<ServerTls>,
    permits: Arc<Semaphore>,
    metrics: FeedMetrics,
    sender: &mpsc::Sender<io::Result<Connection>>,
) {
    let tls = tls.map(Arc::new);
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("the feed cannot accept a connection: {error}");
                sleep(PAUSE).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("cannot set TCP_NODELAY: {error}");
        }
        let (tls, sender, metrics) = (tls.clone(), sender.clone(), metrics.clone());
        tokio::spawn(async move {
            match open(stream, tls.as_deref(), permit).await {
                Ok(connection) => {
                    let _server_ended = sender.send(Ok(connection)).await;
                }
                Err(reason) => {
                    metrics.refused(Refusal::Handshake);
                    tracing::warn!(client = %peer, "no connection to the feed: {reason}");
                }
            }
        });
    }
}

async fn open(
    stream: TcpStream,
    tls: Option<&ServerTls>,
    permit: OwnedSemaphorePermit,
) -> Result<Connection, String> {
    let info = stream.connect_info();
    let io: Box<dyn Io> = match tls {
        None => Box::new(stream),
        Some(tls) => {
            let config = tls.current().await?.value;
            let handshake = timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream));
            let opened = handshake.await.map_err(|_elapsed| format!("no handshake within {HANDSHAKE:?}"))?;
            Box::new(opened.map_err(|error| handshake_fault(&error).unwrap_or_else(|| error.to_string()))?)
        }
    };
    Ok(Connection { io, info, _permit: permit })
}

/// See [`incoming`].
#[derive(Debug)]
pub(super) struct Incoming(mpsc::Receiver<io::Result<Connection>>);

impl Stream for Incoming {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let peer: Option<SocketAddr> = self.info.remote_addr();
        f.debug_struct("Connection").field("peer", &peer).finish_non_exhaustive()
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.info.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
