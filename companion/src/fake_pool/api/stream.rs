//! An answer as server-sent events, one for each token, as the engine produces them.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Bytes;
use tonic::codegen::tokio_stream::Stream;

use super::wire::Answer;
use crate::fake_pool::{endpoint::Ticket, engine::Produced};

/// The events of one request. Dropping it cancels the request.
#[derive(Debug)]
pub(super) struct Events {
    ticket: Ticket,
    answer: Answer,
    include_usage: bool,
    tokens: usize,
}

impl Events {
    pub(super) fn new(ticket: Ticket, answer: Answer, include_usage: bool) -> Self {
        Self { ticket, answer, include_usage, tokens: 0 }
    }

    fn events(&mut self, produced: Produced) -> Bytes {
        let mut events = Vec::with_capacity(256);
        if self.tokens == 0 {
            self.answer.stream_start(&mut events);
        }
        self.tokens += 1;
        self.answer.stream_token(&mut events, produced.word, produced.last);
        if produced.last {
            if self.include_usage {
                self.answer.stream_usage(&mut events, self.tokens, produced.cached_tokens);
            }
            Answer::stream_end(&mut events);
        }
        events.into()
    }
}

impl Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let produced = std::task::ready!(self.ticket.tokens().poll_recv(cx));
        Poll::Ready(produced.map(|produced| Ok(self.events(produced))))
    }
}
