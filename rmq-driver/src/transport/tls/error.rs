//! What can be wrong with a configuration of TLS before anything is connected.

use std::path::PathBuf;
use std::sync::Arc;

/// A configuration of TLS that cannot work. `origin` is the file that a PEM text came from, or says that it was given as
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsConfigError {
    /// A file cannot be read.
    #[error("TLS: cannot read {}: {reason}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        reason: Arc<str>,
    },
    /// There is no certificate where one is wanted.
    #[error("TLS: no certificate in {origin}: it must be PEM, with BEGIN CERTIFICATE")]
    NoCertificate {
        /// Where it was looked for.
        origin: Arc<str>,
    },
    /// A certificate cannot be read.
    #[error("TLS: a certificate in {origin} cannot be used: {reason}")]
    Certificate {
        /// Where it is from.
        origin: Arc<str>,
        /// What is wrong with it.
        reason: Arc<str>,
    },
    /// There is no private key where one is wanted.
    #[error(
        "TLS: no private key in {origin}: it must be PEM, with BEGIN PRIVATE KEY, and one under a password must be \
         decrypted before"
    )]
    NoKey {
        /// Where it was looked for.
        origin: Arc<str>,
    },
    /// A private key cannot be read, or is of a kind that cannot be used.
    #[error("TLS: the private key in {origin} cannot be used: {reason}")]
    Key {
        /// Where it is from.
        origin: Arc<str>,
        /// What is wrong with it.
        reason: Arc<str>,
    },
    /// The private key is another certificate's.
    #[error("TLS: the private key in {key} does not fit the certificate in {certificate}")]
    KeyMismatch {
        /// Where the certificate is from.
        certificate: Arc<str>,
        /// Where the key is from.
        key: Arc<str>,
    },
    /// The system has no root certificates to offer.
    #[error("TLS: this system has no root certificates ({reason}): give them as a file")]
    NoSystemRoots {
        /// Where they were looked for, and what was wrong.
        reason: Arc<str>,
    },
    /// This is neither a name nor an IP address.
    #[error("TLS: `{name}` is neither a host's name nor an IP address")]
    ServerName {
        /// What was given.
        name: Arc<str>,
    },
    /// What rustls says of the configuration as a whole.
    #[error("TLS: {reason}")]
    Other {
        /// Its words.
        reason: Arc<str>,
    },
}
