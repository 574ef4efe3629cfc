//! The servers' side of TLS, and a record of what it saw.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

use rmq_driver::rustls::crypto::ring;
use rmq_driver::rustls::server::WebPkiClientVerifier;
use rmq_driver::rustls::{
    ALL_VERSIONS, HandshakeKind, ProtocolVersion, ServerConfig, ServerConnection, SupportedProtocolVersion,
};

use super::certs::{Ca, Leaf};
use super::world::{Pipes, Wire};

/// Clones are the same server.
#[derive(Clone)]
pub(crate) struct Server {
    config: Arc<ServerConfig>,
    sessions: Rc<RefCell<BTreeMap<usize, Session>>>,
}

struct Session {
    tls: ServerConnection,
    /// All bytes of the client.
    raw: Vec<u8>,
    said_goodbye: bool,
}

impl Server {
    pub(crate) fn new(leaf: &Leaf) -> Self {
        Self::with(leaf, None, ALL_VERSIONS)
    }

    /// With `clients`, who must have signed the certificates of clients.
    pub(crate) fn with(
        leaf: &Leaf,
        clients: Option<&Ca>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Self {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(versions).unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(ca) => {
                let verifier = WebPkiClientVerifier::builder_with_provider(ca.roots(), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let config = builder.with_single_cert(leaf.chain(), leaf.private_key()).unwrap();
        Self { config: Arc::new(config), sessions: Rc::default() }
    }

    /// Every connection began with a handshake, and none of these texts was ever in the clear.
    pub(crate) fn saw_no_plaintext(&self, texts: &[&str]) -> bool {
        const HANDSHAKE: u8 = 0x16;
        let sessions = self.sessions.borrow();
        let holds = |raw: &[u8], text: &str| raw.windows(text.len()).any(|window| window == text.as_bytes());
        !sessions.is_empty()
            && sessions.values().all(|session| {
                session.raw[0] == HANDSHAKE && !texts.iter().any(|text| holds(&session.raw, text))
            })
    }

    pub(crate) fn goodbyes(&self) -> usize {
        self.sessions.borrow().values().filter(|session| session.said_goodbye).count()
    }

    pub(crate) fn versions(&self) -> Vec<Option<ProtocolVersion>> {
        self.sessions.borrow().values().map(|session| session.tls.protocol_version()).collect()
    }

    pub(crate) fn resumed(&self) -> usize {
        let sessions = self.sessions.borrow();
        sessions
            .values()
            .filter(|session| session.tls.handshake_kind() == Some(HandshakeKind::Resumed))
            .count()
    }

    /// Certificates that clients showed.
    pub(crate) fn client_certificates(&self) -> usize {
        self.sessions.borrow().values().filter(|session| session.tls.peer_certificates().is_some()).count()
    }
}

fn ciphertext(tls: &mut ServerConnection) -> Vec<u8> {
    let mut out = Vec::new();
    while tls.wants_write() {
        tls.write_tls(&mut out).unwrap();
    }
    out
}

impl Wire for Server {
    fn open(&self, pipes: &Pipes, pipe: usize, data: Vec<u8>) -> Vec<u8> {
        let mut sessions = self.sessions.borrow_mut();
        let session = sessions.entry(pipe).or_insert_with(|| {
            let mut tls = ServerConnection::new(Arc::clone(&self.config)).unwrap();
            // Answers of any length are written in one go.
            tls.set_buffer_limit(None);
            Session { tls, raw: Vec::new(), said_goodbye: false }
        });
        session.raw.extend(&data);
        let (mut rest, mut plain, mut failed) = (&data[..], Vec::new(), false);
        while !rest.is_empty() && !failed {
            session.tls.read_tls(&mut rest).unwrap();
            match session.tls.process_new_packets() {
                Ok(state) => {
                    session.said_goodbye |= state.peer_has_closed();
                    let mut more = vec![0; state.plaintext_bytes_to_read()];
                    session.tls.reader().read_exact(&mut more).unwrap();
                    plain.extend(more);
                }
                Err(_) => failed = true,
            }
        }
        let answer = ciphertext(&mut session.tls);
        pipes.with(pipe, |end| {
            end.unread.extend(answer);
            end.peer_closed |= failed;
        });
        plain
    }

    fn seal(&self, pipe: usize, data: Vec<u8>) -> Vec<u8> {
        let mut sessions = self.sessions.borrow_mut();
        let tls = &mut sessions.get_mut(&pipe).expect("it has shaken hands").tls;
        tls.writer().write_all(&data).unwrap();
        ciphertext(tls)
    }
}
