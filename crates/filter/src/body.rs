//! Reads from an OpenAI-style request body what scheduling needs, and nothing else.

use std::borrow::Cow;

use headroom_scheduling::Request;
use serde::Deserialize;

use size::{Limit, Size};

mod size;

/// The paths whose bodies are read, as suffixes: a gateway may serve them under a prefix.
const INFERENCE_PATHS: [&str; 2] = ["/v1/chat/completions", "/v1/completions"];

/// Whether a request to `path` has an OpenAI-style body that names a model.
pub fn is_inference(method: &str, path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    method.eq_ignore_ascii_case("POST") && INFERENCE_PATHS.iter().any(|suffix| path.ends_with(suffix))
}

#[derive(Deserialize)]
struct OpenAiBody<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    max_tokens: Option<Limit>,
    #[serde(default)]
    max_completion_tokens: Option<Limit>,
    #[serde(default)]
    prompt: Size,
    #[serde(default)]
    messages: Size,
    #[serde(default)]
    tools: Size,
}

/// Reads the body. What is not needed is skipped without being copied.
///
/// # Errors
/// In words for the client, when the body is not a JSON object, names no model or gives a field
/// that is read here twice: which of the two would count is the reader's secret.
pub fn read(body: &[u8]) -> Result<Request, String> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        None => return Err("the request body is empty; expected a JSON object".to_owned()),
        // A serde struct would also take an array.
        Some(b'{') => {}
        Some(_) => return Err("the request body is not a JSON object".to_owned()),
    }
    let body: OpenAiBody<'_> =
        serde_json::from_slice(body).map_err(|error| format!("the request body is not valid: {error}"))?;
    match body.model {
        Some(model) if !model.is_empty() => {
            let size = body.prompt.and(body.messages).and(body.tools);
            let limit = body.max_completion_tokens.or(body.max_tokens);
            Ok(Request {
                model: Some(model.into_owned()),
                stream: body.stream.unwrap_or(false),
                input_tokens: Some(size.tokens()),
                max_output_tokens: limit.and_then(|limit| limit.0),
                multimodal: size.media,
                ..Request::default()
            })
        }
        _ => Err("the request body names no model; expected a string in \"model\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_body_gives_its_model_or_a_reason() {
        let ok = |model: &str, stream, input_tokens| {
            let (model, input_tokens) = (Some(model.to_owned()), Some(input_tokens));
            Ok(Request { model, stream, input_tokens, ..Request::default() })
        };
        for (body, want) in [
            (r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#, ok("m", false, 2)),
            (r#" {"stream":true,"model":"a\u00e9\"b"}"#, ok("aé\"b", true, 0)),
            (r#"{"model":"m","stream":null}"#, ok("m", false, 0)),
        ] {
            assert_eq!(read(body.as_bytes()), want, "{body}");
        }
        for (body, part) in [
            ("", "empty"),
            ("  \n", "empty"),
            ("model=m", "not a JSON object"),
            (r#"["m",true]"#, "not a JSON object"),
            (r#"{"messages":[]}"#, "names no model"),
            (r#"{"model":""}"#, "names no model"),
            (r#"{"model":7}"#, "expected a"),
            (r#"{"model":"a","model":"b"}"#, "duplicate field `model`"),
            (r#"{"model":"a"} {"model":"b"}"#, "trailing"),
            (r#"{"model":"a""#, "EOF"),
        ] {
            let error = read(body.as_bytes()).expect_err(body);
            assert!(error.contains(part), "{body}: {error}");
        }
    }

    #[test]
    fn the_newer_limit_counts_and_media_are_seen() {
        let rest = |body: &str| {
            let request = read(format!("{{\"model\":\"m\"{body}}}").as_bytes()).expect(body);
            (request.max_output_tokens, request.input_tokens, request.multimodal)
        };
        for (body, want) in [
            (r#","max_tokens":7"#, (Some(7), Some(0), false)),
            (r#","max_tokens":7,"max_completion_tokens":9"#, (Some(9), Some(0), false)),
            (r#","max_tokens":7,"max_completion_tokens":null"#, (Some(7), Some(0), false)),
            (r#","max_tokens":-1"#, (None, Some(0), false)),
            (r#","prompt":"12345678","tools":[{"name":"1234"}]"#, (None, Some(3), false)),
            (r#","messages":[{"content":[{"image_url":{"url":"data:0123"}}]}]"#, (None, Some(0), true)),
        ] {
            assert_eq!(rest(body), want, "{body}");
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = format!(r#"{{"model":"m","x":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
        let _either_way_it_returns = read(deep.as_bytes());
    }

    #[test]
    fn only_posts_to_the_inference_paths_have_such_a_body() {
        for path in ["/v1/chat/completions", "/v1/completions/", "/team-a/v1/completions?x=/y"] {
            assert!(is_inference("POST", path), "{path}");
        }
        for (method, path) in [
            ("GET", "/v1/completions"),
            ("POST", "/v1/models"),
            ("POST", "/xv1/completions"),
            ("POST", "/?/v1/completions"),
        ] {
            assert!(!is_inference(method, path), "{method} {path}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _result = read(&bytes);
        }
    }
}
