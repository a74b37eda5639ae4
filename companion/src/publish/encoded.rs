//! Messages as they are on the wire: made once, and sent to every subscriber with the time of writing.

use bytes::{BufMut, Bytes};
use headroom_wire::feed::{SubscribeRequest, SubscribeResponse, subscribe_response::Message};
use prost::Message as _;
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

use crate::{admin::FeedMessage, clock};

/// A `SubscribeResponse` without its time. The time can be appended: a message is its fields, one after another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Encoded {
    /// What it is.
    pub(super) kind: FeedMessage,
    bytes: Bytes,
}

impl Encoded {
    pub(super) fn new(message: Message) -> Self {
        let kind = match &message {
            Message::Snapshot(_) => FeedMessage::Snapshot,
            Message::Delta(_) => FeedMessage::Delta,
            Message::Heartbeat(_) => FeedMessage::Heartbeat,
        };
        let response = SubscribeResponse { message: Some(message), sent_at_us: 0 };
        Self { kind, bytes: response.encode_to_vec().into() }
    }

    /// How many bytes there are, without the time.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[cfg(test)]
    pub(super) fn decode(&self) -> Message {
        let response = SubscribeResponse::decode(self.bytes.clone()).expect("a message");
        response.message.expect("a message")
    }
}

/// The feed's codec, for the publisher.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FeedCodec;

impl Codec for FeedCodec {
    type Encode = Encoded;
    type Decode = SubscribeRequest;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for FeedCodec {
    type Item = Encoded;
    type Error = Status;

    fn encode(&mut self, message: Encoded, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(message.bytes);
        let time = SubscribeResponse { message: None, sent_at_us: clock::now().as_micros() };
        time.encode(into).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for FeedCodec {
    type Item = SubscribeRequest;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<SubscribeRequest>, Status> {
        SubscribeRequest::decode(from).map(Some).map_err(|error| Status::invalid_argument(error.to_string()))
    }
}
