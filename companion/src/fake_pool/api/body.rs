//! Request bodies, with their trailers.

use std::{future::poll_fn, pin::Pin};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::HeaderMap,
};

use super::ApiError;

/// A longer body is refused.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// Gives the parts of a body to `take` as they arrive; returns the trailers.
///
/// # Errors
/// When the body is too long, or the connection breaks.
pub(super) async fn read(mut body: Body, mut take: impl FnMut(Bytes)) -> Result<HeaderMap, ApiError> {
    let mut length = 0_usize;
    let mut trailers = HeaderMap::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let broken = |error| ApiError::bad_request(None, format!("the body broke off: {error}"));
        match frame.map_err(broken)?.into_data() {
            Ok(data) => {
                length += data.len();
                if length > MAX_BODY {
                    return Err(ApiError::too_large(MAX_BODY));
                }
                take(data);
            }
            Err(frame) => trailers.extend(frame.into_trailers().unwrap_or_default()),
        }
    }
    Ok(trailers)
}
