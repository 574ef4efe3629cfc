//! From an address to a stream: through a proxy if there is one, and under TLS if that is on.

mod socks5;
#[cfg(feature = "tls")]
mod tls;

pub use socks5::{Socks5, Socks5LoginError};
#[cfg(feature = "tls")]
pub use tls::{TlsConfig, TlsConfigBuilder, TlsConfigError};

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::Address;

use crate::connection::Connecting;
use crate::runtime::Runtime;

/// How a client opens its connections.
#[derive(Clone, Default)]
pub(crate) struct Dialer {
    pub(crate) proxy: Option<Socks5>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<TlsConfig>,
}

impl Dialer {
    /// All of it is one future, so that the connect timeout is one for all.
    pub(crate) fn connect<R: Runtime>(
        &self,
        runtime: &R,
        address: &Address,
    ) -> Connecting<Transport<R::Stream>> {
        let (dialer, address) = (self.clone(), address.clone());
        let opening = runtime.connect(dialer.proxy.as_ref().map_or(&address, Socks5::address));
        Box::pin(async move {
            let stream = match &dialer.proxy {
                Some(proxy) => proxy.pass(opening, &address).await?,
                None => opening.await?,
            };
            #[cfg(feature = "tls")]
            if let Some(tls) = &dialer.tls {
                return Ok(Transport::Tls(Box::new(tls::Stream::open(tls, &address, stream).await?)));
            }
            Ok(Transport::Plain(stream))
        })
    }
}

/// A stream that carries frames.
pub(crate) enum Transport<S> {
    Plain(S),
    /// Boxed, as it is some hundred bytes, which plain streams are not to take.
    #[cfg(feature = "tls")]
    Tls(Box<tls::Stream<S>>),
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Transport<S> {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.poll_read(cx, buf),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Transport<S> {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Pin::new(stream.inner()).poll_write(cx, buf),
        }
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Pin::new(stream.inner()).poll_write_vectored(cx, bufs),
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Pin::new(stream.inner()).poll_flush(cx),
        }
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_close(cx),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Pin::new(stream.inner()).poll_close(cx),
        }
    }
}
