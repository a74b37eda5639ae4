//! What stands in PEM files. Errors name the file and never quote it.

use std::path::Path;

use rustls::{
    RootCertStore,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{Error, PemObject},
    },
};

/// The certificates in a file, in its order; at least one.
///
/// # Errors
/// When the file cannot be read or holds no certificate.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match certificates {
        Ok(certificates) if certificates.is_empty() => {
            Err(format!("{}: holds no certificate", path.display()))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(format!("{}: {}", path.display(), words(&error))),
    }
}

/// The private key in a file.
///
/// # Errors
/// When the file cannot be read or holds no key.
pub(super) fn key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| match error {
        Error::NoItemsFound => format!("{}: holds no private key", path.display()),
        error => format!("{}: {}", path.display(), words(&error)),
    })
}

/// The certificate authorities in a file.
///
/// # Errors
/// When the file cannot be read, holds no certificate, or one that is no authority's.
pub(super) fn authorities(path: &Path) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        let added = store.add(certificate);
        added.map_err(|error| format!("{}: is no certificate authority: {error}", path.display()))?;
    }
    Ok(store)
}

fn words(error: &Error) -> String {
    match error {
        Error::Io(error) => format!("cannot be read: {error}"),
        Error::NoItemsFound => "holds nothing in PEM format".to_owned(),
        // The details may quote a private key.
        _ => "is no PEM file".to_owned(),
    }
}
