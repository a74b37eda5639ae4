//! TLS towards targets.

use std::sync::Arc;

use rustls::{ClientConfig, ConfigBuilder, RootCertStore, client::WantsClientCert};

use super::{
    pem::{authorities, certificates, key},
    provider,
    verify::AnyCertificate,
};
use crate::discovery::Access;

/// How targets with this access are reached.
///
/// # Errors
/// When a file cannot be used: its name, and why.
pub(crate) fn client_config(access: &Access) -> Result<ClientConfig, String> {
    let builder = builder()?;
    let builder = match &access.ca {
        _ if access.insecure => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider())))
        }
        Some(file) => builder.with_root_certificates(authorities(file)?),
        None => builder.with_root_certificates(system_authorities()),
    };
    with_identity(builder, access)
}

/// For targets without TLS: nobody is trusted.
///
/// # Errors
/// Never with ring.
pub(crate) fn plain_config() -> Result<ClientConfig, String> {
    Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn builder() -> Result<ConfigBuilder<ClientConfig, rustls::WantsVerifier>, String> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    builder.map_err(|error| error.to_string())
}

fn with_identity(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    access: &Access,
) -> Result<ClientConfig, String> {
    let Some((cert_file, key_file)) = &access.identity else { return Ok(builder.with_no_client_auth()) };
    builder.with_client_auth_cert(certificates(cert_file)?, key(key_file)?).map_err(|error| {
        format!("{} and {} do not fit together: {error}", cert_file.display(), key_file.display())
    })
}

/// What the system trusts. Where it has nothing, every certificate is from an unknown authority.
fn system_authorities() -> RootCertStore {
    let mut store = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (_, unusable) = store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let errors: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        tracing::warn!(unusable, ?errors, "the system names no certificate authority that can be used");
    }
    store
}
