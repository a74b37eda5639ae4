//! How targets are reached, and how often.

use std::{path::Path, sync::Arc};

use super::{
    ConfigErrors,
    error::quoted,
    raw,
    timing::{interval, timeout},
};
use crate::discovery::{Access, Pace};

/// What holds for a target that does not say otherwise.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    pub(super) access: Access,
    pub(super) pace: Pace,
}

impl Reach {
    /// What holds for targets that say `raw`, in the place `path`.
    pub(super) fn with(&self, path: &str, raw: &raw::Fetch, errors: &mut ConfigErrors) -> Self {
        let interval = interval(&format!("{path}.interval"), raw.interval.as_deref(), errors)
            .unwrap_or(self.pace.interval);
        let timeout = timeout(&format!("{path}.timeout"), raw.timeout.as_deref(), interval, errors);
        let pace = Pace { interval, timeout: timeout.unwrap_or(self.pace.timeout) };
        let access = access(path, raw.tls.as_ref(), raw.bearer_token_file.as_deref(), &self.access, errors);
        Self { access, pace }
    }
}

/// How targets are reached that say this, and `above` where they say nothing.
pub(super) fn access(
    path: &str,
    tls: Option<&raw::TargetTls>,
    bearer_token_file: Option<&str>,
    above: &Access,
    errors: &mut ConfigErrors,
) -> Access {
    let mut access = above.clone();
    if let Some(token) = bearer_token_file {
        access.bearer_token = file(token);
    }
    if let Some(tls) = tls {
        access.ca = tls.ca_file.as_deref().and_then(file);
        access.insecure = tls.insecure_skip_verify;
        let cert = tls.cert_file.as_deref().and_then(file);
        let key = tls.key_file.as_deref().and_then(file);
        if cert.is_some() != key.is_some() {
            errors.push(&format!("{path}.tls"), "", "give both certFile and keyFile, or none");
        }
        if tls.insecure_skip_verify && access.ca.is_some() {
            errors.push(
                &format!("{path}.tls"),
                "",
                "insecureSkipVerify takes any certificate, so caFile means nothing",
            );
        }
        access.identity = cert.zip(key);
    }
    access
}

fn file(name: &str) -> Option<Arc<Path>> {
    (!name.is_empty()).then(|| Path::new(name).into())
}

/// Compiles an `http` or `https` URL.
pub(super) fn compile_url(path: &str, text: &str, errors: &mut ConfigErrors) -> Option<url::Url> {
    let reason = match url::Url::parse(text) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            "must be an http:// or https:// URL".to_owned()
        }
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            "must not hold credentials; give a bearerTokenFile".to_owned()
        }
        Ok(mut url) => {
            url.set_fragment(None);
            return Some(url);
        }
        Err(error) => format!("is no URL, for instance http://10.0.0.1:9400/metrics: {error}"),
    };
    errors.push(path, quoted(text), reason);
    None
}
