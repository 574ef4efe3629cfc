//! TLS by rustls, over any stream.

mod config;
mod error;
mod pem;
mod stream;
mod verifier;

pub use config::{TlsConfig, TlsConfigBuilder};
pub use error::TlsConfigError;
pub(crate) use stream::Stream;
