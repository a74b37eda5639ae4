//! Answers of the OpenAI API.

use serde::Serialize;

use crate::fake_pool::{engine::FinishReason, tokens::Word};

/// Which of the two APIs is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Text,
}

/// What all answers to one request have in common.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) api: Api,
    pub(super) id: String,
    pub(super) created: u64,
    pub(super) model: String,
    pub(super) finish: FinishReason,
    pub(super) prompt_tokens: usize,
}

#[derive(Debug, Serialize)]
struct Envelope<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [Choice<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    index: u32,
    #[serde(flatten)]
    content: Content<'a>,
    logprobs: Option<()>,
    finish_reason: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Content<'a> {
    Message(Said<'a>),
    Delta(Said<'a>),
    Text(&'a str),
}

#[derive(Debug, Serialize)]
struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    content: &'a str,
}

#[derive(Debug, Serialize)]
struct Usage {
    prompt_tokens: usize,
    completion_tokens: usize,
    total_tokens: usize,
    prompt_tokens_details: PromptDetails,
}

#[derive(Debug, Serialize)]
struct PromptDetails {
    cached_tokens: usize,
}

impl Answer {
    /// The answer as a whole.
    pub(super) fn whole(&self, text: &str, completion_tokens: usize, cached_tokens: usize) -> Vec<u8> {
        let (object, content) = match self.api {
            Api::Chat => {
                ("chat.completion", Content::Message(Said { role: Some("assistant"), content: text }))
            }
            Api::Text => ("text_completion", Content::Text(text)),
        };
        let usage = Some(self.usage(completion_tokens, cached_tokens));
        let choice = self.choice(content, true);
        let mut answer = Vec::new();
        self.write(&mut answer, object, &[choice], usage);
        answer
    }

    /// Adds the event that starts a stream, where the API has one.
    pub(super) fn stream_start(&self, events: &mut Vec<u8>) {
        if self.api == Api::Chat {
            let content = Content::Delta(Said { role: Some("assistant"), content: "" });
            self.event(events, &[self.choice(content, false)], None);
        }
    }

    /// Adds the event of one token.
    pub(super) fn stream_token(&self, events: &mut Vec<u8>, word: Word, last: bool) {
        let content = match self.api {
            Api::Chat => Content::Delta(Said { role: None, content: word }),
            Api::Text => Content::Text(word),
        };
        self.event(events, &[self.choice(content, last)], None);
    }

    /// Adds the event that says what was used.
    pub(super) fn stream_usage(&self, events: &mut Vec<u8>, completion_tokens: usize, cached_tokens: usize) {
        self.event(events, &[], Some(self.usage(completion_tokens, cached_tokens)));
    }

    /// Adds the event that ends a stream.
    pub(super) fn stream_end(events: &mut Vec<u8>) {
        events.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn choice<'a>(&self, content: Content<'a>, last: bool) -> Choice<'a> {
        let finish_reason = last.then(|| self.finish.as_str());
        Choice { index: 0, content, logprobs: None, finish_reason }
    }

    fn usage(&self, completion_tokens: usize, cached_tokens: usize) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens,
            total_tokens: self.prompt_tokens + completion_tokens,
            prompt_tokens_details: PromptDetails { cached_tokens },
        }
    }

    fn event(&self, events: &mut Vec<u8>, choices: &[Choice<'_>], usage: Option<Usage>) {
        let object = match self.api {
            Api::Chat => "chat.completion.chunk",
            Api::Text => "text_completion",
        };
        events.extend_from_slice(b"data: ");
        self.write(events, object, choices, usage);
        events.extend_from_slice(b"\n\n");
    }

    fn write(&self, to: &mut Vec<u8>, object: &'static str, choices: &[Choice<'_>], usage: Option<Usage>) {
        let Self { id, created, model, .. } = self;
        let envelope = Envelope { id, object, created: *created, model, choices, usage };
        // Text and numbers always have a JSON form, and a vector takes every write.
        let _infallible = serde_json::to_writer(to, &envelope);
    }
}
