//! SOCKS5 (RFC 1928) with user and password (RFC 1929): connections through a proxy, which resolves names.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::Address;

use crate::discovery::write_all;

/// A SOCKS5 proxy that a client's connections go through; for [`ClientBuilder::socks5`](crate::ClientBuilder::socks5).
///
/// The proxy resolves the hosts' names. TLS, if it is on, is between the client and the server. The connect timeout is one
/// for all of it.
#[derive(Clone)]
pub struct Socks5 {
    proxy: Address,
    login: Option<Arc<(String, String)>>,
}

/// User and password must have from 1 to 255 bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("SOCKS5 takes users and passwords of 1 to 255 bytes")]
pub struct Socks5LoginError;

impl Socks5 {
    /// A proxy that wants no login.
    pub fn new(proxy: Address) -> Self {
        Self { proxy, login: None }
    }

    /// Logs in if the proxy asks for it. Both go to the proxy unencrypted.
    ///
    /// # Errors
    ///
    /// One of the two is empty or too long.
    pub fn login(mut self, user: &str, password: &str) -> Result<Self, Socks5LoginError> {
        if [user, password].iter().any(|part| !(1..=255).contains(&part.len())) {
            return Err(Socks5LoginError);
        }
        self.login = Some(Arc::new((user.to_owned(), password.to_owned())));
        Ok(self)
    }

    /// Where the proxy listens.
    pub fn address(&self) -> &Address {
        &self.proxy
    }

    /// Opens a stream through the proxy. Not a byte more is read than the proxy says.
    pub(crate) async fn pass<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        opening: impl Future<Output = io::Result<S>>,
        target: &Address,
    ) -> io::Result<S> {
        let named = |problem: Problem| {
            let kind = if let Problem::Io(error) = &problem { error.kind() } else { io::ErrorKind::Other };
            io::Error::new(kind, format!("SOCKS5 proxy {}: {problem}", self.proxy))
        };
        let mut stream = opening.await.map_err(|error| named(error.into()))?;
        self.ask(&mut stream, target).await.map_err(named)?;
        Ok(stream)
    }

    async fn ask<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        target: &Address,
    ) -> Result<(), Problem> {
        let request = request(target)?;
        let methods: &[u8] =
            if self.login.is_some() { &[VERSION, 2, NO_LOGIN, LOGIN] } else { &[VERSION, 1, NO_LOGIN] };
        write_all(stream, methods).await?;
        match (read::<2, _>(stream).await?, &self.login) {
            ([VERSION, NO_LOGIN], _) => {}
            ([VERSION, LOGIN], Some(login)) => {
                write_all(stream, &login_request(&login.0, &login.1)).await?;
                if read::<2, _>(stream).await?[1] != 0 {
                    return Err(Problem::Login);
                }
            }
            ([VERSION, _], Some(_)) => return Err(Problem::NoMethod),
            ([VERSION, _], None) => return Err(Problem::LoginWanted),
            _ => return Err(Problem::NotSocks5),
        }
        write_all(stream, &request).await?;
        let [version, reply, _, kind] = read(stream).await?;
        match (version, reply) {
            (VERSION, 0) => {}
            (VERSION, code) => return Err(Problem::Refused(code)),
            _ => return Err(Problem::NotSocks5),
        }
        // Where the proxy's own connection begins, which is of no use here.
        let rest = match kind {
            IPV4 => 4,
            IPV6 => 16,
            NAME => usize::from(read::<1, _>(stream).await?[0]),
            _ => return Err(Problem::NotSocks5),
        };
        read_exact(stream, &mut [0; 255 + PORT_LEN][..rest + PORT_LEN]).await
    }
}

impl fmt::Debug for Socks5 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.login.as_ref().map(|login| &login.0);
        f.debug_struct("Socks5").field("proxy", &self.proxy).field("user", &user).finish_non_exhaustive()
    }
}

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const LOGIN: u8 = 2;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;
const PORT_LEN: usize = 2;

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it closed the connection before it had answered")]
    Closed,
    #[error("what it says is not SOCKS5")]
    NotSocks5,
    #[error("it wants a login, and none was given")]
    LoginWanted,
    #[error("it takes neither a login with user and password nor none")]
    NoMethod,
    #[error("it does not accept the user or the password")]
    Login,
    #[error("a host's name of more than 255 bytes")]
    NameTooLong,
    #[error("{}", refusal(*.0))]
    Refused(u8),
}

fn refusal(code: u8) -> String {
    let text = match code {
        1 => "it failed",
        2 => "its rules do not allow the connection",
        3 => "the network cannot be reached from it",
        4 => "the host cannot be reached from it, or it does not know the name",
        5 => "the connection was refused",
        6 => "the connection took too long",
        7 => "it opens no connections for others",
        8 => "it does not know this kind of address",
        _ => "it failed for a reason that has no name",
    };
    format!("{text} (reply {code})")
}

fn login_request(user: &str, password: &str) -> Vec<u8> {
    const LOGIN_VERSION: u8 = 1;
    let mut out = vec![LOGIN_VERSION];
    for part in [user, password] {
        out.push(part.len() as u8);
        out.extend(part.as_bytes());
    }
    out
}

fn request(target: &Address) -> Result<Vec<u8>, Problem> {
    const CONNECT: u8 = 1;
    let mut out = vec![VERSION, CONNECT, 0];
    match target.host().parse() {
        Ok(IpAddr::V4(ip)) => out.extend([&[IPV4], &ip.octets()[..]].concat()),
        Ok(IpAddr::V6(ip)) => out.extend([&[IPV6], &ip.octets()[..]].concat()),
        Err(_) => {
            let len = u8::try_from(target.host().len()).map_err(|_| Problem::NameTooLong)?;
            out.extend([NAME, len]);
            out.extend(target.host().as_bytes());
        }
    }
    out.extend(target.port().to_be_bytes());
    Ok(out)
}

async fn read<const N: usize, S: AsyncRead + Unpin>(stream: &mut S) -> Result<[u8; N], Problem> {
    let mut buf = [0; N];
    read_exact(stream, &mut buf).await?;
    Ok(buf)
}

async fn read_exact<S: AsyncRead + Unpin>(stream: &mut S, buf: &mut [u8]) -> Result<(), Problem> {
    let mut at = 0;
    while at < buf.len() {
        match poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, &mut buf[at..])).await {
            Ok(0) => return Err(Problem::Closed),
            Ok(len) => at += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
