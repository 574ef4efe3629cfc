//! Where a peer listens.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Host and port of a name server or broker. The host may be a name: resolving it is the driver's work, done anew
/// at each connect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    host: Arc<str>,
    port: u16,
}

impl Address {
    /// An address from its parts. An IPv6 host is given without brackets.
    pub fn new(host: &str, port: u16) -> Self {
        Self { host: host.into(), port }
    }

    /// The addresses of a text that joins them by `;`, as lists of name servers do (producer §2.2). Spaces around them and
    /// empty parts do not count.
    ///
    /// # Errors
    ///
    /// The first that cannot be read.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, AddressError> {
        text.split(';').map(str::trim).filter(|part| !part.is_empty()).map(str::parse).collect()
    }

    /// Name or IP address; IPv6 without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// A text that is not `host:port`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an address: {problem}; write host:port, for IPv6 [host]:port")]
pub struct AddressError {
    /// What was given.
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl FromStr for Address {
    type Err = AddressError;

    /// Splits at the last colon, as the official client does, so that `fd00::1:10911` works without brackets
    /// (wire §9.7).
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = |problem| AddressError { text: text.to_string(), problem };
        let trimmed = text.trim();
        let (host, port) = trimmed.rsplit_once(':').ok_or_else(|| error("the port is missing"))?;
        let port = port.parse().map_err(|_| error("the port is not a number from 1 to 65535"))?;
        if port == 0 {
            return Err(error("the port is not a number from 1 to 65535"));
        }
        let host = match (host.strip_prefix('['), host.ends_with(']')) {
            (Some(inner), true) => &inner[..inner.len() - 1],
            (None, false) => host,
            _ => return Err(error("a bracket has no partner")),
        };
        if host.contains("://") {
            return Err(error("it begins with a scheme"));
        }
        if host.contains(',') {
            return Err(error("it holds a comma, but several are separated by semicolons"));
        }
        if host.is_empty() {
            return Err(error("the host is missing"));
        }
        if host.contains(['[', ']', '/', ' ', '@']) {
            return Err(error("the host has a character that no host has"));
        }
        Ok(Self::new(host, port))
    }
}
