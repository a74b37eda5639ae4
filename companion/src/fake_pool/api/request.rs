//! Requests of the OpenAI API, as far as the model needs them. Unknown fields are ignored, as engines do.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::ApiError;
use crate::fake_pool::{
    endpoint::Endpoint,
    engine::{FinishReason, Submission},
    fnv::Fnv,
    tokens::{Context, Token, tokenize},
};

/// What an image or another part without text counts, in tokens.
const OTHER_PART_TOKENS: usize = 256;

/// A request that can be given to the engine.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) model: String,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
    pub(super) prompt_tokens: usize,
    pub(super) submission: Submission,
}

#[derive(Debug, Deserialize)]
struct Options {
    model: Option<String>,
    max_tokens: Option<usize>,
    max_completion_tokens: Option<usize>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    n: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct ChatPrompt {
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be text or a list of parts")]
enum Content {
    Text(String),
    Parts(Vec<Value>),
}

#[derive(Debug, Deserialize)]
struct TextPrompt {
    prompt: Prompt,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be text, token numbers, or a list with one of these")]
enum Prompt {
    Text(String),
    Tokens(Vec<u32>),
    Texts(Vec<String>),
    TokenLists(Vec<Vec<u32>>),
}

/// Reads the body of a chat completion.
///
/// # Errors
/// When it is no such thing, or asks for what is not served.
pub(super) fn chat(body: &[u8], endpoint: &Endpoint) -> Result<Call, ApiError> {
    let body = object(body)?;
    let ChatPrompt { messages } = part(&body)?;
    if messages.is_empty() {
        return Err(ApiError::bad_request(Some("messages"), "messages must not be empty"));
    }
    let mut tokens = Vec::new();
    for Message { role, content } in messages {
        tokens.push(Token::control(&role));
        match content {
            None => {}
            Some(Content::Text(text)) => tokens.extend(tokenize(&text)),
            Some(Content::Parts(parts)) => parts.iter().for_each(|part| part_tokens(part, &mut tokens)),
        }
        tokens.push(Token::control("end of turn"));
    }
    tokens.push(Token::control("assistant"));
    call(part(&body)?, endpoint, tokens)
}

/// Reads the body of a text completion.
///
/// # Errors
/// When it is no such thing, or asks for what is not served.
pub(super) fn text(body: &[u8], endpoint: &Endpoint) -> Result<Call, ApiError> {
    let body = object(body)?;
    let TextPrompt { prompt } = part(&body)?;
    let single = || ApiError::bad_request(Some("prompt"), "prompt must be one prompt, not several");
    let tokens = match prompt {
        Prompt::Text(text) => tokenize(&text).collect(),
        Prompt::Tokens(numbers) => numbers.into_iter().map(Token::numbered).collect(),
        Prompt::Texts(texts) => match texts.as_slice() {
            [text] => tokenize(text).collect(),
            _ => return Err(single()),
        },
        Prompt::TokenLists(lists) => match lists.as_slice() {
            [numbers] => numbers.iter().copied().map(Token::numbered).collect(),
            _ => return Err(single()),
        },
    };
    call(part(&body)?, endpoint, tokens)
}

fn call(options: Options, endpoint: &Endpoint, tokens: Vec<Token>) -> Result<Call, ApiError> {
    let Options { model, max_tokens, max_completion_tokens, stream, stream_options, n } = options;
    let served = &endpoint.models;
    let model = match (model, served.first()) {
        (Some(model), _) if !served.contains(&model) => {
            return Err(ApiError::no_such_model(&model, served));
        }
        (Some(model), _) => model,
        (None, first) => first.cloned().unwrap_or_default(),
    };
    if n.is_some_and(|n| n != 1) {
        return Err(ApiError::bad_request(Some("n"), "n must be 1"));
    }
    let (output_tokens, finish) = match max_completion_tokens.or(max_tokens) {
        Some(limit) => (limit, FinishReason::Length),
        None => (endpoint.default_output_tokens, FinishReason::Stop),
    };
    let prompt = Context::new(&model, tokens, endpoint.limits.block_size);
    Ok(Call {
        model,
        stream: stream.unwrap_or(false),
        include_usage: stream_options.and_then(|options| options.include_usage).unwrap_or(false),
        prompt_tokens: prompt.len(),
        submission: Submission { prompt, output_tokens, finish },
    })
}

fn part_tokens(part: &Value, tokens: &mut Vec<Token>) {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        tokens.extend(tokenize(text));
    } else {
        let mut content = Fnv::default();
        content.bytes(part.to_string().as_bytes());
        let token = Token::control(&content.value().to_string());
        tokens.extend(std::iter::repeat_n(token, OTHER_PART_TOKENS));
    }
}

/// Reads the whole body first: of a field that stands there twice the last one counts, as in engines.
fn object(body: &[u8]) -> Result<Value, ApiError> {
    match serde_json::from_slice(body) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(ApiError::bad_request(None, "the body must be a JSON object")),
        Err(error) => Err(ApiError::bad_request(None, format!("the body is not JSON: {error}"))),
    }
}

fn part<T: DeserializeOwned>(body: &Value) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(body).map_err(|error| ApiError::bad_request(None, error.to_string()))
}
