//! Certificates and keys out of PEM.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures_rustls::pki_types::pem::{Error as PemError, PemObject};
use futures_rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::error::TlsConfigError;

/// A PEM text, or where it is. Says nothing of its content, which may be a key.
pub(super) enum Pem {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Pem {
    /// For errors.
    pub(super) fn origin(&self) -> Arc<str> {
        match self {
            Self::File(file) => file.display().to_string().into(),
            Self::Bytes(_) => "the bytes given".into(),
        }
    }

    fn read(&self) -> Result<Cow<'_, [u8]>, TlsConfigError> {
        match self {
            Self::Bytes(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::File(file) => {
                let failed =
                    |error: std::io::Error| TlsConfigError::Read { file: file.clone(), reason: text(error) };
                std::fs::read(file).map(Cow::Owned).map_err(failed)
            }
        }
    }

    /// All certificates, at least one.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TlsConfigError> {
        let pem = self.read()?;
        let found = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, PemError>>();
        match found {
            Ok(found) if found.is_empty() => Err(TlsConfigError::NoCertificate { origin: self.origin() }),
            Ok(found) => Ok(found),
            Err(error) => Err(TlsConfigError::Certificate { origin: self.origin(), reason: text(error) }),
        }
    }

    /// The first private key.
    pub(super) fn key(&self) -> Result<PrivateKeyDer<'static>, TlsConfigError> {
        PrivateKeyDer::from_pem_slice(&self.read()?).map_err(|error| match error {
            PemError::NoItemsFound => TlsConfigError::NoKey { origin: self.origin() },
            error => TlsConfigError::Key { origin: self.origin(), reason: text(error) },
        })
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin())
    }
}

pub(super) fn text(error: impl fmt::Display) -> Arc<str> {
    error.to_string().into()
}
