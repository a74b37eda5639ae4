//! The only file that calls the proxy.
//!
//! The SDK panics on any status that it does not expect, and a panic is an outage of this worker. So
//! each function here names the phases in which it may be called, and uses no SDK method that unwraps
//! a result or reads a header as UTF-8.

use std::{
    cell::RefCell,
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    time::{Duration, UNIX_EPOCH},
};

use headroom_datalayer::Timestamp;
use headroom_filter::ports::{CasMismatch, FeedStream, SharedData, Stats, Stored};
use headroom_filter::reply::LocalReply;
use proxy_wasm::hostcalls;
use proxy_wasm::types::{BufferType, LogLevel, MapType, MetricType, Status};

/// The service and the method of the feed.
const FEED_SERVICE: &str = "headroom.v1.EndpointFeed";
const FEED_METHOD: &str = "Subscribe";

/// The proxy, as the ports of `headroom-filter` see it.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// Ids of metrics by name. The proxy has no removal, and neither has this.
    metrics: RefCell<HashMap<String, u32>>,
}

/// The time. Any phase.
pub(crate) fn now() -> Timestamp {
    let since_epoch =
        hostcalls::get_current_time().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Timestamp::from_micros(since_epoch.and_then(|d| u64::try_from(d.as_micros()).ok()).unwrap_or_default())
}

/// A number that no other VM draws. Any phase.
pub(crate) fn random() -> u64 {
    // The standard library seeds its hasher from the proxy's `random_get`, once a VM, and counts on.
    RandomState::new().hash_one(now().as_micros())
}

/// A line in the proxy's log. Any phase.
pub(crate) fn log(level: LogLevel, message: &str) {
    let _nothing_to_do_about_it = hostcalls::log(level, message);
}

/// Asks for ticks. Root context, at configuration.
pub(crate) fn set_tick_period(period: Duration) {
    let _always_taken = hostcalls::set_tick_period(period);
}

/// The plugin's configuration. Root context, at configuration.
pub(crate) fn plugin_configuration(size: usize) -> Vec<u8> {
    buffer(BufferType::PluginConfiguration, size)
}

/// The message that a feed callback announced. Root context, in that callback.
pub(crate) fn feed_message(size: usize) -> Vec<u8> {
    buffer(BufferType::GrpcReceiveBuffer, size)
}

/// The request body so far. HTTP context, in the body and trailers callbacks.
pub(crate) fn request_body(size: usize) -> Vec<u8> {
    buffer(BufferType::HttpRequestBody, size)
}

fn buffer(kind: BufferType, size: usize) -> Vec<u8> {
    hostcalls::get_buffer(kind, 0, size).ok().flatten().unwrap_or_default()
}

/// A request header; bytes that are not UTF-8 are replaced. HTTP context, before the request goes on.
pub(crate) fn request_header(name: &str) -> Option<String> {
    let value = hostcalls::get_map_value_bytes(MapType::HttpRequestHeaders, name).ok().flatten()?;
    Some(String::from_utf8_lossy(&value).into_owned())
}

/// Removes a request header and says whether it was there. HTTP context, before the request goes on.
pub(crate) fn remove_request_header(name: &str) -> bool {
    // Editing makes the proxy match the route again, so it is done only when there is something to edit.
    hostcalls::get_map_value_bytes(MapType::HttpRequestHeaders, name).is_ok_and(|value| value.is_some())
        && hostcalls::remove_map_value(MapType::HttpRequestHeaders, name).is_ok()
}

/// Sets a request header. HTTP context, before the request goes on.
pub(crate) fn set_request_header(name: &str, value: &str) {
    let _set = hostcalls::set_map_value(MapType::HttpRequestHeaders, name, Some(value));
}

/// A response header; bytes that are not UTF-8 are replaced. HTTP context, in the response headers callback.
pub(crate) fn response_header(name: &str) -> Option<String> {
    let value = hostcalls::get_map_value_bytes(MapType::HttpResponseHeaders, name).ok().flatten()?;
    Some(String::from_utf8_lossy(&value).into_owned())
}

/// Sets a response header. HTTP context, in the response headers callback.
pub(crate) fn set_response_header(name: &str, value: &str) {
    let _set = hostcalls::set_map_value(MapType::HttpResponseHeaders, name, Some(value));
}

/// A property as text. HTTP context; which ones exist depends on the phase.
pub(crate) fn property(path: &[&str]) -> Option<String> {
    let value = hostcalls::get_property(path.to_vec()).ok().flatten()?;
    Some(String::from_utf8_lossy(&value).into_owned())
}

/// A property that is a number. HTTP context; which ones exist depends on the phase.
pub(crate) fn number_property(path: &[&str]) -> Option<u64> {
    let value = hostcalls::get_property(path.to_vec()).ok().flatten()?;
    Some(u64::from_le_bytes(value.try_into().ok()?))
}

/// Leaves text in filter state, as `wasm.<name>`. HTTP context, before the request goes on.
pub(crate) fn set_filter_state(name: &str, value: &str) {
    let _set = hostcalls::set_property(vec![name], Some(value.as_bytes()));
}

/// Answers the request here. HTTP context, before the request goes on; the callback returns Pause.
pub(crate) fn reply(reply: &LocalReply) {
    let headers = reply.headers.clone();
    let _sent = hostcalls::send_http_response(reply.status, headers, Some(reply.body.as_bytes()));
}

impl SharedData for Host {
    fn get(&self, key: &str) -> Option<Stored> {
        match hostcalls::get_shared_data(key) {
            Ok((bytes, Some(cas))) => Some(Stored { bytes: bytes.unwrap_or_default(), cas }),
            Ok((_, None)) | Err(_) => None,
        }
    }

    fn set(&self, key: &str, bytes: &[u8], cas: Option<u32>) -> Result<(), CasMismatch> {
        hostcalls::set_shared_data(key, Some(bytes), cas).map_err(|_| CasMismatch)
    }
}

impl Host {
    fn metric(&self, kind: MetricType, name: &str) -> Option<u32> {
        let mut metrics = self.metrics.try_borrow_mut().ok()?;
        if let Some(id) = metrics.get(name) {
            return Some(*id);
        }
        let id = hostcalls::define_metric(kind, name).ok()?;
        metrics.insert(name.to_owned(), id);
        Some(id)
    }
}

impl Stats for Host {
    fn count(&self, name: &str, by: u32) {
        // The proxy refuses to count by nothing.
        if by > 0
            && let Some(id) = self.metric(MetricType::Counter, name)
        {
            let _counted = hostcalls::increment_metric(id, i64::from(by));
        }
    }

    fn set(&self, name: &str, to: u64) {
        if let Some(id) = self.metric(MetricType::Gauge, name) {
            let _set = hostcalls::record_metric(id, to);
        }
    }
}

/// Streams to one cluster. Root context.
#[derive(Debug)]
pub(crate) struct Streams<'a> {
    pub(crate) cluster: &'a str,
}

impl FeedStream for Streams<'_> {
    fn open(&self) -> Option<u32> {
        hostcalls::open_grpc_stream(self.cluster, FEED_SERVICE, FEED_METHOD, vec![]).ok()
    }

    fn send(&self, token: u32, message: &[u8]) -> bool {
        hostcalls::send_grpc_stream_message(token, Some(message), false).is_ok()
    }

    fn cancel(&self, token: u32) {
        match hostcalls::cancel_grpc_stream(token) {
            Ok(()) | Err(Status::NotFound) => {}
            Err(status) => {
                log(LogLevel::Warn, &format!("headroom: a feed stream could not be cancelled: {status:?}"))
            }
        }
    }
}
