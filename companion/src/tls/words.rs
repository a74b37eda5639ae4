//! Why a handshake failed, in words.

use std::error::Error;

use rustls::{AlertDescription, CertificateError};

/// What was wrong with TLS, if that is what ended a connection.
pub(crate) fn handshake_fault(error: &(dyn Error + 'static)) -> Option<String> {
    causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()).map(words)
}

/// An error and everything below it. What an I/O error wraps is no source of it.
pub(crate) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| below(error))
}

fn below<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(fault) => format!("its certificate {}", certificate(fault)),
        rustls::Error::AlertReceived(alert) => format!("it refuses us: {}", refusal(*alert)),
        rustls::Error::InvalidMessage(_) => "it does not speak TLS".to_owned(),
        other => other.to_string(),
    }
}

fn certificate(fault: &CertificateError) -> String {
    match fault {
        CertificateError::UnknownIssuer => "is from an unknown authority".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet".to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            format!("is not for {}, but for {}", expected.to_str(), presented.join(", "))
        }
        CertificateError::NotValidForName => "is for another name".to_owned(),
        CertificateError::Revoked => "is revoked".to_owned(),
        other => format!("is not valid: {other}"),
    }
}

fn refusal(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => "it wants a certificate".to_owned(),
        AlertDescription::UnknownCA => {
            "our certificate is from an authority that it does not know".to_owned()
        }
        AlertDescription::CertificateExpired => "our certificate has expired".to_owned(),
        AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
            "it does not take our certificate".to_owned()
        }
        other => format!("{other:?}"),
    }
}
