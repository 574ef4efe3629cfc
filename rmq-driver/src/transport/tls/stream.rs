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
    /// What went wrong after the bytes that were handed out.
    failure: Option<io::Error>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    /// Does the handshake.
    pub(crate) async fn open(tls: &TlsConfig, address: &Address, stream: S) -> io::Result<Self> {
        let name = tls.name_at(address).map_err(io::Error::other)?;
        match TlsConnector::from(tls.rustls()).connect(name, stream).await {
            Ok(inner) => Ok(Self { inner, failure: None }),
            Err(error) => Err(handshake_failure(error)),
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
                    if len == 0 {
                        return Poll::Ready(Err(named(error)));
                    }
                    self.failure = Some(named(error));
                    break;
                }
                Poll::Pending if len == 0 => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(len))
    }
}

/// Says that it is TLS that failed, if so.
fn named(error: io::Error) -> io::Error {
    match cause(&error) {
        Some(cause) => io::Error::new(error.kind(), format!("TLS: {}", reason(cause))),
        None => error,
    }
}

fn handshake_failure(error: io::Error) -> io::Error {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    if cause(&error).is_some() {
        return named(error);
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

fn cause(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn reason(cause: &Error) -> String {
    match cause {
        Error::InvalidMessage(_) => format!("what the server says is not TLS: {cause}"),
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            format!("{cause}; it wants a client certificate")
        }
        _ => cause.to_string(),
    }
}
