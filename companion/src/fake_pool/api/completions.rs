//! Chat and text completions.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    body::Body,
    extract::State,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse, Response},
};

use super::{
    ApiError, body,
    request::{self, Call},
    stream::Events,
    wire::{Answer, Api},
};
use crate::fake_pool::endpoint::{Endpoint, Ticket};

pub(super) async fn chat(State(endpoint): State<Arc<Endpoint>>, body: Body) -> Result<Response, ApiError> {
    let call = request::chat(&read(body).await?, &endpoint)?;
    answer(&endpoint, Api::Chat, call).await
}

pub(super) async fn text(State(endpoint): State<Arc<Endpoint>>, body: Body) -> Result<Response, ApiError> {
    let call = request::text(&read(body).await?, &endpoint)?;
    answer(&endpoint, Api::Text, call).await
}

async fn read(body: Body) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    body::read(body, |data| bytes.extend_from_slice(&data)).await?;
    Ok(bytes)
}

async fn answer(endpoint: &Arc<Endpoint>, api: Api, call: Call) -> Result<Response, ApiError> {
    let Call { model, stream, include_usage, prompt_tokens, submission } = call;
    let finish = submission.finish;
    let ticket = endpoint.submit(submission)?;
    let kind = match api {
        Api::Chat => "chatcmpl",
        Api::Text => "cmpl",
    };
    let answer = Answer {
        api,
        id: format!("{kind}-{}-{}", endpoint.name, ticket.request()),
        created: unix_seconds(),
        model,
        finish,
        prompt_tokens,
    };
    if stream {
        let headers = [(CONTENT_TYPE, "text/event-stream; charset=utf-8"), (CACHE_CONTROL, "no-cache")];
        let events = Events::new(ticket, answer, include_usage);
        return Ok((headers, Body::from_stream(events)).into_response());
    }
    whole(ticket, &answer).await
}

async fn whole(mut ticket: Ticket, answer: &Answer) -> Result<Response, ApiError> {
    let (mut text, mut tokens) = (String::new(), 0);
    while let Some(produced) = ticket.tokens().recv().await {
        text.push_str(produced.word);
        tokens += 1;
        if produced.last {
            let whole = answer.whole(&text, tokens, produced.cached_tokens);
            return Ok(([(CONTENT_TYPE, "application/json")], whole).into_response());
        }
    }
    Err(ApiError::gone())
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
