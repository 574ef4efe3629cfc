//! What a client's TLS is to be.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures_rustls::pki_types::ServerName;
use futures_rustls::rustls::client::{WantsClientCert, WebPkiServerVerifier};
use futures_rustls::rustls::crypto::{CryptoProvider, ring};
use futures_rustls::rustls::{ClientConfig, ConfigBuilder, Error, RootCertStore};
use rmq_core::Address;

use super::error::TlsConfigError;
use super::pem::{Pem, text};
use super::verifier::{AnyName, Nothing};

/// TLS for all connections of a client to name servers and brokers; for [`ClientBuilder::tls`]. Feature `tls`.
///
/// ```
/// # use rmq_driver::{Client, Runtime, TlsConfig};
/// # fn example<R: Runtime + Default>() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = TlsConfig::builder()
///     .roots_file("ca.pem")
///     .client_certificate_files("client.pem", "client.key")
///     .build()?;
/// let client = Client::<R>::builder().name_server("broker.example:9876").tls(tls).start()?;
/// # Ok(())
/// # }
/// ```
///
/// TLS 1.2 and 1.3 by rustls and ring. A client with it writes nothing before the handshake is done and never falls back
/// to plaintext: a handshake that fails is a connection that cannot be opened, with an error that begins with `TLS:`. The
/// connect timeout is one for the connection and its handshake. Nothing of this is process-wide: clients with other
/// configurations, or none, live side by side. Cloning is cheap; clients that share a configuration resume each other's
/// sessions. Dates are judged by the system's clock. An [address server](crate::ClientBuilder::address_server) is asked
/// over plain HTTP all the same.
///
/// With TLS 1.3 a server judges the client's certificate after the handshake, so a refusal is what the first request
/// fails with: `TLS: received fatal alert: BadCertificate; the server wants a certificate of this client`, say.
///
/// # Coming from Java
///
/// | Java | here |
/// |---|---|
/// | `tls.enable=true`, `setUseTLS(true)` | [`ClientBuilder::tls`] |
/// | `tls.client.trustCertPath` | [`roots_file`](TlsConfigBuilder::roots_file); by default the system's roots |
/// | `tls.client.certPath`, `tls.client.keyPath` | [`client_certificate_files`](TlsConfigBuilder::client_certificate_files) |
/// | `tls.client.keyPassword` | none: decrypt the key before (`openssl pkcs8 -in FILE`) |
/// | `tls.client.authServer=true` | always so |
/// | `tls.client.authServer=false`, and `tls.test.mode.enable=true`, both Java's default | [`dangerously_skip_verification`](TlsConfigBuilder::dangerously_skip_verification) |
/// | `tls.config.file` | none: settings are a client's |
///
/// Java takes a certificate for any host. Here it must have the broker's name or IP address, as the name server tells it, in
/// its subjectAltName (a common name does not count). Where all have one other name, give it as
/// [`server_name`](TlsConfigBuilder::server_name);
/// [`dangerously_accept_any_name`](TlsConfigBuilder::dangerously_accept_any_name) is what Java does.
///
/// [`ClientBuilder::tls`]: crate::ClientBuilder::tls
#[derive(Clone)]
pub struct TlsConfig {
    rustls: Arc<ClientConfig>,
    server_name: Option<ServerName<'static>>,
}

impl TlsConfig {
    /// Begins one that trusts the system's roots and shows no certificate.
    pub fn builder() -> TlsConfigBuilder {
        TlsConfigBuilder { roots: None, client: None, server_name: None, verify: Verify::All }
    }

    /// Takes a configuration of [`rustls`](crate::rustls) as it is, with whatever versions, cipher suites, verifier and
    /// provider it has. Servers are called by their addresses' hosts, unless
    /// [`with_server_name`](Self::with_server_name) says otherwise.
    pub fn from_rustls(config: Arc<ClientConfig>) -> Self {
        Self { rustls: config, server_name: None }
    }

    /// As [`TlsConfigBuilder::server_name`].
    ///
    /// # Errors
    ///
    /// It is neither a name nor an IP address.
    pub fn with_server_name(mut self, name: &str) -> Result<Self, TlsConfigError> {
        self.server_name = Some(server_name(name)?);
        Ok(self)
    }

    pub(super) fn rustls(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.rustls)
    }

    /// Whose certificate is wanted of the server at an address.
    pub(super) fn name_at(&self, address: &Address) -> Result<ServerName<'static>, TlsConfigError> {
        self.server_name.clone().map_or_else(|| server_name(address.host()), Ok)
    }
}

impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConfig").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

fn server_name(name: &str) -> Result<ServerName<'static>, TlsConfigError> {
    ServerName::try_from(name.to_owned()).map_err(|_| TlsConfigError::ServerName { name: name.into() })
}

/// How much of a server's certificate is verified.
#[derive(Clone, Copy, Debug)]
enum Verify {
    All,
    Chain,
    Nothing,
}

/// Makes a [`TlsConfig`]. Files are read by [`build`](Self::build).
#[derive(Debug)]
#[must_use = "it does nothing until it is built"]
pub struct TlsConfigBuilder {
    roots: Option<Pem>,
    client: Option<(Pem, Pem)>,
    server_name: Option<String>,
    verify: Verify,
}

impl TlsConfigBuilder {
    /// Trusts the certificates of a PEM file, in place of the system's.
    pub fn roots_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.roots = Some(Pem::File(file.into()));
        self
    }

    /// Trusts the certificates of a PEM text, in place of the system's.
    pub fn roots_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(Pem::Bytes(pem.into()));
        self
    }

    /// Shows this certificate, the first of a PEM file that may hold the rest of its chain too, to servers that ask for
    /// one. The key is PKCS#8, PKCS#1 or SEC1, under no password.
    pub fn client_certificate_files(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.client = Some((Pem::File(certificate.into()), Pem::File(key.into())));
        self
    }

    /// As [`client_certificate_files`](Self::client_certificate_files), from PEM texts.
    pub fn client_certificate_pem(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.client = Some((Pem::Bytes(certificate.into()), Pem::Bytes(key.into())));
        self
    }

    /// Wants this name, or IP address, in the certificates of all servers, wherever they are. By default it is the host of
    /// the address that is connected to: as the user gives it for a name server, as the route has it for a broker.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Takes a certificate that a trusted root has signed for any name: whoever has one can pose as a broker. Java does so.
    pub fn dangerously_accept_any_name(mut self) -> Self {
        self.verify = Verify::Chain;
        self
    }

    /// Takes any certificate: whoever can get in between can read and change everything. Roots are not read then.
    pub fn dangerously_skip_verification(mut self) -> Self {
        self.verify = Verify::Nothing;
        self
    }

    /// Reads the files and checks what they hold. It blocks on the file system; do it before anything is waiting.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or does not hold what it should, a key that is another certificate's, a name that is none,
    /// or a system without roots. Each names the file.
    pub fn build(self) -> Result<TlsConfig, TlsConfigError> {
        // Never a process-wide provider: others in the process may want another one.
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions().map_err(other)?;
        let config = match self.verify {
            Verify::All => config.with_root_certificates(self.roots()?),
            Verify::Chain => {
                let verifier = chain_verifier(self.roots()?, provider)?;
                config.dangerous().with_custom_certificate_verifier(Arc::new(AnyName(verifier)))
            }
            Verify::Nothing => {
                config.dangerous().with_custom_certificate_verifier(Arc::new(Nothing(provider)))
            }
        };
        let config = match &self.client {
            Some((certificate, key)) => with_certificate(config, certificate, key)?,
            None => config.with_no_client_auth(),
        };
        let config = TlsConfig::from_rustls(Arc::new(config));
        match &self.server_name {
            Some(name) => config.with_server_name(name),
            None => Ok(config),
        }
    }

    fn roots(&self) -> Result<Arc<RootCertStore>, TlsConfigError> {
        match &self.roots {
            Some(pem) => given_roots(pem),
            None => system_roots(),
        }
        .map(Arc::new)
    }
}

/// A certificate that cannot be used is an error: it is there for a purpose.
fn given_roots(pem: &Pem) -> Result<RootCertStore, TlsConfigError> {
    let mut roots = RootCertStore::empty();
    for certificate in pem.certificates()? {
        let bad = |error| TlsConfigError::Certificate { origin: pem.origin(), reason: text(error) };
        roots.add(certificate).map_err(bad)?;
    }
    Ok(roots)
}

/// Of the many on a system some may be broken or of a kind unknown here; the others do.
fn system_roots() -> Result<RootCertStore, TlsConfigError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or_else(|| "none were found".into(), text);
        return Err(TlsConfigError::NoSystemRoots { reason });
    }
    Ok(roots)
}

fn chain_verifier(
    roots: Arc<RootCertStore>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, TlsConfigError> {
    WebPkiServerVerifier::builder_with_provider(roots, provider).build().map_err(other)
}

fn with_certificate(
    config: ConfigBuilder<ClientConfig, WantsClientCert>,
    certificate: &Pem,
    key: &Pem,
) -> Result<ClientConfig, TlsConfigError> {
    config.with_client_auth_cert(certificate.certificates()?, key.key()?).map_err(|error| match error {
        Error::InconsistentKeys(_) => {
            TlsConfigError::KeyMismatch { certificate: certificate.origin(), key: key.origin() }
        }
        Error::InvalidCertificate(_) => {
            TlsConfigError::Certificate { origin: certificate.origin(), reason: text(error) }
        }
        error => TlsConfigError::Key { origin: key.origin(), reason: text(error) },
    })
}

fn other(error: impl fmt::Display) -> TlsConfigError {
    TlsConfigError::Other { reason: text(error) }
}
