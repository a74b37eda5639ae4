//! `/echo`: what arrived, so that a test can tell what a proxy changed.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::Request,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::{ApiError, body};
use crate::fake_pool::fnv::Fnv;

/// Answers with method, path, version, headers, trailers, and the body's length and FNV-1a hash.
pub(super) async fn echo(request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let (mut length, mut hash) = (0, Fnv::default());
    let trailers = body::read(body, |data| {
        length += data.len();
        hash.bytes(&data);
    })
    .await?;
    let answer = json!({
        "method": head.method.as_str(),
        "path": head.uri.path_and_query().map_or("", |path| path.as_str()),
        "version": format!("{:?}", head.version),
        "headers": values_by_name(&head.headers),
        "trailers": values_by_name(&trailers),
        "bodyLength": length,
        "bodyFnv1a": format!("{:016x}", hash.value()),
    });
    Ok(Json(answer).into_response())
}

/// Values of the same name stand in one list, in the order in which they arrived.
fn values_by_name(headers: &HeaderMap) -> BTreeMap<&str, Vec<String>> {
    let mut values: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (name, value) in headers {
        values.entry(name.as_str()).or_default().push(String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    values
}
