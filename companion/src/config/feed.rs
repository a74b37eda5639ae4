//! How the feed is served.

use std::{net::SocketAddr, path::Path, sync::Arc};

use super::{ConfigErrors, compile::listen, raw};
use crate::tls::ServerFiles;

/// How the feed is served.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    /// Where Envoy's subscriptions are accepted.
    pub(crate) listen: SocketAddr,
    /// TLS, if it is served with it.
    pub(crate) tls: Option<ServerFiles>,
    /// How many streams there may be at once.
    pub(crate) max_subscribers: usize,
    /// A longer message is not sent.
    pub(crate) max_message_bytes: usize,
}

/// Compiles what the `feed` section says.
pub(super) fn compile_feed(raw: &raw::Feed, errors: &mut ConfigErrors) -> Option<Feed> {
    let listen = listen("feed.listen", &raw.listen, errors);
    let max_subscribers = raw.max_subscribers.unwrap_or(1024);
    if !(1..=65_536).contains(&max_subscribers) {
        errors.push("feed.maxSubscribers", max_subscribers, "must be from 1 to 65536");
    }
    let max_message_bytes = raw.max_message_bytes.unwrap_or(32 << 20);
    if !(64 << 10..=1 << 30).contains(&max_message_bytes) {
        errors.push("feed.maxMessageBytes", max_message_bytes, "must be from 65536 to 1073741824");
    }
    let size = |number| usize::try_from(number).unwrap_or(usize::MAX);
    Some(Feed {
        listen: listen?,
        tls: raw.tls.as_ref().map(|tls| compile_tls(tls, errors)),
        max_subscribers: size(max_subscribers),
        max_message_bytes: size(max_message_bytes),
    })
}

fn compile_tls(raw: &raw::FeedTls, errors: &mut ConfigErrors) -> ServerFiles {
    let mut file = |field: &str, name: &str| -> Arc<Path> {
        if name.is_empty() {
            errors.push(&format!("feed.tls.{field}"), "\"\"", "name a PEM file");
        }
        Path::new(name).into()
    };
    ServerFiles {
        cert: file("certFile", &raw.cert_file),
        key: file("keyFile", &raw.key_file),
        client_ca: raw.client_ca_file.as_deref().map(|name| file("clientCaFile", name)),
    }
}
