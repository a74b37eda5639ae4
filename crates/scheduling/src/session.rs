//! Sessions: which endpoint a client's earlier requests went to.
//!
//! Two ways to know. `session_id`: the client sends an id of its own, and the proxy remembers where the
//! id went. `encoded_endpoint_header`: the proxy gives the client a token that names the endpoint, and the
//! client sends it back. A client can invent a token, so it is signed; it holds no address.

use headroom_datalayer::Span;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;

use crate::{Context, Effect, Invalid, Picked};

/// Parameters of `session-affinity-filter` and `session-affinity-scorer`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionParams {
    /// How a session is known.
    #[serde(default)]
    strategy: Strategy,
    /// For `encoded_endpoint_header`.
    #[serde(default)]
    encoded_endpoint_header_config: TokenHeader,
    /// For `session_id`.
    #[serde(default)]
    session_id_config: SessionId,
    /// The profile whose endpoint the session is pinned to. Default: the one that the request is sent by.
    #[serde(default)]
    profile_name: String,
    /// Signs the tokens of `encoded_endpoint_header`; at least 16 characters. Proxies with the same key
    /// accept each other's tokens. Default: a key that each proxy makes when it starts.
    #[serde(default)]
    signing_key: Option<String>,
}

/// How a session is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Strategy {
    /// By a signed token that each response carries in a header and the client sends back.
    #[default]
    EncodedEndpointHeader,
    /// By an id that the client sends.
    SessionId,
}

/// The header of the token.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TokenHeader {
    /// Its name, in requests and responses. Default `x-session-token`.
    #[serde(default = "default_token_header")]
    header: String,
}

fn default_token_header() -> String {
    "x-session-token".to_owned()
}

impl Default for TokenHeader {
    fn default() -> Self {
        Self { header: default_token_header() }
    }
}

/// Where the client's id is and how long it is remembered.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SessionId {
    /// Request headers that may hold the id; the first that does counts. Default: `x-session-id`.
    #[serde(default = "default_sources")]
    sources: Vec<Source>,
    /// A session is forgotten this many seconds after its last request, above 0. Default 300.
    #[serde(default = "default_ttl")]
    eviction_ttl_seconds: f64,
}

impl Default for SessionId {
    fn default() -> Self {
        Self { sources: default_sources(), eviction_ttl_seconds: default_ttl() }
    }
}

/// A place of the client's id.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Source {
    /// Name of a request header.
    header: String,
}

fn default_sources() -> Vec<Source> {
    vec![Source { header: "x-session-id".to_owned() }]
}

const fn default_ttl() -> f64 {
    300.0
}

/// Sessions as a plugin uses them.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    how: How,
    profile: String,
}

#[derive(Clone, Debug)]
enum How {
    Token { header: String, key: Option<Vec<u8>> },
    Id { headers: Vec<String>, ttl: Span },
}

/// Ten days: longer than any session.
const MAX_TTL_SECONDS: f64 = 864_000.0;

impl Session {
    pub(crate) fn new(params: SessionParams) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        let mut header = |path: String, name: String| {
            let name = name.to_ascii_lowercase();
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
                invalid.push(Invalid::new(path, format!("{name:?}"), "must be a header's name"));
            }
            name
        };
        let token = header(
            "encodedEndpointHeaderConfig.header".to_owned(),
            params.encoded_endpoint_header_config.header,
        );
        let sources = params.session_id_config.sources.into_iter().enumerate();
        let headers: Vec<String> = sources
            .map(|(index, source)| header(format!("sessionIdConfig.sources[{index}].header"), source.header))
            .collect();
        if headers.is_empty() {
            invalid.push(Invalid::new("sessionIdConfig.sources", "[]", "must name at least one header"));
        }
        let ttl = params.session_id_config.eviction_ttl_seconds;
        if !(ttl > 0.0 && ttl <= MAX_TTL_SECONDS) {
            let rule = format!("must be above 0 and at most {MAX_TTL_SECONDS}");
            invalid.push(Invalid::new("sessionIdConfig.evictionTtlSeconds", ttl, rule));
        }
        let key = params.signing_key.map(String::into_bytes);
        if key.as_ref().is_some_and(|key| key.len() < 16) {
            invalid.push(Invalid::new("signingKey", "(not shown)", "must have at least 16 characters"));
        }
        if !invalid.is_empty() {
            return Err(invalid);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and ten days")]
        let how = match params.strategy {
            Strategy::EncodedEndpointHeader => How::Token { header: token, key },
            Strategy::SessionId => How::Id { headers, ttl: Span::from_millis((ttl * 1e3) as u64) },
        };
        Ok(Self { how, profile: params.profile_name })
    }

    /// Where the request's session is pinned; `None` for a request without one, a forged token or an
    /// endpoint that is gone.
    pub(crate) fn pinned(&self, cx: &Context<'_>) -> Option<usize> {
        match &self.how {
            How::Token { header, key } => {
                let token = cx.request.header(header)?;
                let fingerprint = u64::from_str_radix(token.get(..16)?, 16).ok()?;
                let pool = 0..cx.snapshot.endpoints().len();
                let endpoint = pool.into_iter().find(|e| cx.snapshot.fingerprint(*e) == fingerprint)?;
                let sign = hex(token.get(16..)?)?;
                mac(cx, key.as_deref(), endpoint)?.verify_truncated_left(&sign).ok()?;
                (sign.len() == SIGN_BYTES).then_some(endpoint)
            }
            How::Id { .. } => {
                let address = cx.local.sessions.pinned(self.id(cx)?, cx.now)?;
                cx.snapshot.endpoints().iter().position(|endpoint| endpoint.address.as_str() == address)
            }
        }
    }

    pub(crate) fn headers(&self) -> Vec<String> {
        match &self.how {
            How::Token { header, .. } => vec![header.clone()],
            How::Id { headers, .. } => headers.clone(),
        }
    }

    /// Pins the session to the choice. A session whose endpoint could have served and was outvoted keeps
    /// its endpoint; it moves only when that is gone or excluded.
    pub(crate) fn effects(&self, cx: &Context<'_>, picked: &Picked<'_>) -> Vec<Effect> {
        let ours = if self.profile.is_empty() { picked.primary } else { picked.profile == self.profile };
        if !ours {
            return Vec::new();
        }
        let held = self.pinned(cx).filter(|endpoint| (picked.could_serve)(*endpoint));
        let Some(endpoint) = cx.endpoint(held.unwrap_or(picked.choice)) else { return Vec::new() };
        let effect = match &self.how {
            How::Token { header, key } => self
                .token(cx, key.as_deref(), held.unwrap_or(picked.choice))
                .map(|value| Effect::ResponseHeader { name: header.clone(), value }),
            How::Id { ttl, .. } => self.id(cx).map(|session| Effect::Pin {
                session: session.to_owned(),
                address: endpoint.address.clone(),
                ttl: *ttl,
            }),
        };
        effect.into_iter().collect()
    }

    fn id<'c>(&self, cx: &Context<'c>) -> Option<&'c str> {
        match &self.how {
            How::Token { .. } => None,
            How::Id { headers, .. } => headers.iter().find_map(|header| cx.request.header(header)),
        }
    }

    fn token(&self, cx: &Context<'_>, key: Option<&[u8]>, endpoint: usize) -> Option<String> {
        let sign = mac(cx, key, endpoint)?.finalize().into_bytes();
        let mut token = format!("{:016x}", cx.snapshot.fingerprint(endpoint));
        for byte in sign.iter().take(SIGN_BYTES) {
            token.push_str(&format!("{byte:02x}"));
        }
        Some(token)
    }
}

/// Half of a SHA-256 is beyond guessing.
const SIGN_BYTES: usize = 16;

/// Signs an endpoint's identity within its pool.
fn mac(cx: &Context<'_>, key: Option<&[u8]>, endpoint: usize) -> Option<Hmac<Sha256>> {
    let own = if key.is_none() { cx.local.sessions.token_key() } else { None };
    let mut mac = Hmac::<Sha256>::new_from_slice(key.or(own.as_deref())?).ok()?;
    mac.update(cx.snapshot.pool().as_bytes());
    mac.update(&[0]);
    mac.update(cx.endpoint(endpoint)?.address.as_str().as_bytes());
    Some(mac)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests;
