//! Certificates for tests.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};

/// A certificate authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate.
    pub(crate) pem: String,
}

/// A certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) cert: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("signed").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for these names and addresses, for servers and clients.
    pub(crate) fn issue(&self, names: &[&str]) -> Identity {
        self.issue_until(names, 2100)
    }

    /// The same, valid until the beginning of this year.
    pub(crate) fn issue_until(&self, names: &[&str], year: i32) -> Identity {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().expect("a key");
        let cert = params.signed_by(&key, &self.issuer).expect("signed").pem();
        Identity { cert, key: key.serialize_pem() }
    }
}

impl Identity {
    /// A server that shows this, and wants clients to show a certificate of `clients` where given.
    pub(crate) fn server(&self, clients: Option<&Authority>) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("versions");
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(certificate(&authority.pem)).expect("an authority");
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
            }
        };
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("a key");
        Arc::new(builder.with_single_cert(vec![certificate(&self.cert)], key).expect("fit together"))
    }
}

fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate")
}

/// A directory of files that goes away at the end.
#[derive(Debug)]
pub(crate) struct Files(PathBuf);

impl Files {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("headroom-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> Arc<Path> {
        self.0.join(name).into()
    }

    /// Writes a file in one step, as a rotation does.
    pub(crate) fn write(&self, name: &str, text: &str) -> Arc<Path> {
        let (path, new) = (self.path(name), self.path("new"));
        std::fs::write(&new, text).expect("written");
        std::fs::rename(&new, &path).expect("renamed");
        path
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).expect("removed");
    }

    /// Writes a certificate and its key.
    pub(crate) fn identity(&self, name: &str, identity: &Identity) -> (Arc<Path>, Arc<Path>) {
        (
            self.write(&format!("{name}.crt"), &identity.cert),
            self.write(&format!("{name}.key"), &identity.key),
        )
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _left_behind = std::fs::remove_dir_all(&self.0);
    }
}
