//! TLS of the feed.

use std::{path::Path, sync::Arc};

use rustls::{ServerConfig, server::WebPkiClientVerifier};

use super::{
    Watched,
    pem::{authorities, certificates, key},
    provider,
};

/// What readers of the feed are shown, and whom it is served to. The files are read again when they change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerFiles {
    /// The certificate that readers are shown.
    pub(crate) cert: Arc<Path>,
    /// Its key.
    pub(crate) key: Arc<Path>,
    /// The authorities of which readers must show a certificate; without it any reader is served.
    pub(crate) client_ca: Option<Arc<Path>>,
}

/// TLS as these files have it, for HTTP/2.
pub(crate) fn watch_server(files: ServerFiles) -> Watched<Arc<ServerConfig>> {
    let all = [&files.cert, &files.key].into_iter().chain(&files.client_ca).cloned();
    Watched::new(all.collect::<Vec<_>>(), move || server_config(&files).map(Arc::new))
}

fn server_config(files: &ServerFiles) -> Result<ServerConfig, String> {
    let ServerFiles { cert, key: key_file, client_ca } = files;
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let roots = Arc::new(authorities(file)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
            let verifier = verifier.map_err(|error| format!("{}: {error}", file.display()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let config = builder.with_single_cert(certificates(cert)?, key(key_file)?);
    let mut config = config.map_err(|error| {
        format!("{} and {} do not fit together: {error}", cert.display(), key_file.display())
    })?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}
