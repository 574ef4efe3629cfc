//! A stream under TLS, and what its failures are called.

use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::TlsConnector;
use futures_rustls::client::TlsStream;
use futures_rustls::rustls::{AlertDescription, Error};
use rmq_core::Address;

use super::config::TlsConfig;

pub(crate) struct Stream<S> {
    inner: TlsStream<S>,
    /// This client has a certificate to show.
    shows_certificate: bool,
    /// What went wrong after the bytes that were handed out.
    failure: Option<io::Error>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    /// Does the handshake.
    pub(crate) async fn open(tls: &TlsConfig, address: &Address, stream: S) -> io::Result<Self> {
        let name = tls.name_at(address).map_err(io::Error::other)?;
        let config = tls.rustls();
        let shows_certificate = config.client_auth_cert_resolver.has_certs();
        match TlsConnector::from(config).connect(name, stream).await {
            Ok(inner) => Ok(Self { inner, shows_certificate, failure: None }),
            Err(error) => Err(handshake_failure(error, shows_certificate)),
        }
    }

    pub(crate) fn inner(&mut self) -> &mut TlsStream<S> {
        &mut self.inner
    }

    /// Brings as much as is there, as sockets do. The session reads 4 KiB at a time, and the bounds of the loop count reads.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if let Some(error) = self.failure.take() {
            return Poll::Ready(Err(error));
        }
        let mut len = 0;
        while len < buf.len() {
            match Pin::new(&mut self.inner).poll_read(cx, &mut buf[len..]) {
                Poll::Ready(Ok(0)) => break,
                Poll::Ready(Ok(more)) => len += more,
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                // Frames say how long they are, so that an end without a goodbye hides nothing: it is one as any other.
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => break,
                Poll::Ready(Err(error)) => {
                    // What came before it counts: an alert may lie behind the last answers.
                    let before = self.inner.get_mut().1.reader().read(&mut buf[len..]);
                    len += before.unwrap_or_default();
                    let error = named(error, self.shows_certificate);
                    if len == 0 {
                        return Poll::Ready(Err(error));
                    }
                    self.failure = Some(error);
                    break;
                }
                Poll::Pending if len == 0 => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(len))
    }
}

fn handshake_failure(error: io::Error, shows_certificate: bool) -> io::Error {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    if cause(&error).is_some() {
        return named(error, shows_certificate);
    }
    let kind = error.kind();
    // A server that speaks plaintext takes the handshake for a bad frame and closes, often before it has read all of it.
    let text = match kind {
        UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => {
            "TLS: the server closed the connection during the handshake; does it speak TLS?".to_owned()
        }
        _ => format!("TLS: {error}, during the handshake"),
    };
    io::Error::new(kind, text)
}

/// Says that it is TLS that failed, if so.
fn named(error: io::Error, shows_certificate: bool) -> io::Error {
    match cause(&error) {
        Some(cause) => {
            let text = format!("TLS: {}", reason(cause, shows_certificate));
            io::Error::new(error.kind(), text)
        }
        None => error,
    }
}

fn cause(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn reason(cause: &Error, shows_certificate: bool) -> String {
    match cause {
        Error::InvalidMessage(_) => format!("what the server says is not TLS: {cause}"),
        Error::AlertReceived(alert) if is_about_a_certificate(*alert) => match shows_certificate {
            true => format!("{cause}; the server does not accept this client's certificate"),
            false => format!("{cause}; the server wants a certificate of this client"),
        },
        _ => cause.to_string(),
    }
}

/// Said by a server, it is about the client's: which one is used for what differs among servers.
fn is_about_a_certificate(alert: AlertDescription) -> bool {
    use AlertDescription::{
        BadCertificate, CertificateExpired, CertificateRequired, CertificateRevoked, CertificateUnknown,
        UnknownCA, UnsupportedCertificate,
    };
    matches!(
        alert,
        BadCertificate
            | CertificateExpired
            | CertificateRequired
            | CertificateRevoked
            | CertificateUnknown
            | UnknownCA
            | UnsupportedCertificate
    )
}
