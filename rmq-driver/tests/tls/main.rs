//! TLS, over streams in memory.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod certs;
mod config;
mod server;
#[allow(dead_code, unused_imports, reason = "other tests use the rest")]
#[path = "../world/mod.rs"]
mod world;

use std::sync::Arc;
use std::time::Duration;

use certs::{OURS, SERVER, STRANGER};
use rmq_driver::rmq_core::{CloseCause, RequestError};
use rmq_driver::rustls::crypto::ring;
use rmq_driver::rustls::version::{TLS12, TLS13};
use rmq_driver::rustls::{ALL_VERSIONS, ClientConfig, ProtocolVersion};
use rmq_driver::{
    Client, Error, Message, Producer, SendErrorKind, SendStatus, Socks5, TlsConfig, TlsConfigBuilder,
};
use server::Server;
use world::{BROKER, Hand, NAME_SERVER, Peer, Pipes, Wire, World};

const TICK: Duration = Duration::from_millis(100);

fn message(body: impl Into<bytes::Bytes>) -> Message {
    Message::new("orders", body)
}

fn ours() -> TlsConfigBuilder {
    TlsConfig::builder().roots_pem(&*OURS.pem)
}

struct Setting {
    world: World,
    peer: Peer,
    server: Server,
    client: Client<World>,
    producer: Producer,
}

/// Nothing is connected yet.
fn setting_in(world: World, tls: TlsConfig, server: Server) -> Setting {
    let client = world.builder().tls(tls).start_on(world.clone()).unwrap();
    let producer = client.producer("group").unwrap();
    let mut peer = Peer::new(&world);
    peer.wire = Some(Box::new(server.clone()));
    Setting { world, peer, server, client, producer }
}

fn setting(tls: TlsConfigBuilder, server: Server) -> Setting {
    setting_in(World::new(), tls.build().unwrap(), server)
}

impl Setting {
    /// What comes of a send.
    fn send(&mut self, body: &'static str) -> Result<SendStatus, Error> {
        let mut send = Hand::begun(self.producer.send(message(body)));
        self.peer.run();
        while send.flag.wakes() == 0 {
            self.world.pass(TICK);
            self.peer.run();
        }
        let sent = send.output().map(|sent| sent.status);
        assert!(self.server.saw_no_plaintext(&[body, "orders", "opaque"]));
        sent
    }

    fn warm(mut self) -> Self {
        self.send("warm").unwrap();
        self.peer.seen.clear();
        self
    }

    /// The text of a send's failure. No connection was of use, so that it can be tried again.
    fn failure(mut self) -> String {
        let error = self.send("hello").unwrap_err();
        assert!(self.peer.seen.is_empty());
        assert!(error.is_retryable() && !error.may_have_been_stored(), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(NAME_SERVER), "{text}");
        assert_eq!(self.client.stats().operations, 0);
        text
    }
}

fn assert_says(text: &str, expected: &str) {
    assert!(text.contains(expected), "{text:?} does not say {expected:?}");
}

#[test]
fn messages_go_out_under_both_versions_in_any_pieces() {
    for (version, name) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)] {
        for chunk in [1, 7, 1_000, usize::MAX] {
            let world = World::new();
            world.pipes.chunk(chunk);
            let server = Server::with(&SERVER, None, &[version]);
            let mut setting = setting_in(world, ours().build().unwrap(), server);
            assert_eq!(setting.send("hello"), Ok(SendStatus::SendOk));
            assert_eq!(setting.peer.bodies(), [b"hello"]);
            assert_eq!(setting.server.versions(), [Some(name); 2], "{chunk} bytes at a time");
        }
    }
}

#[test]
fn what_a_stranger_signed_is_not_trusted() {
    let stranger = || STRANGER.leaf(&["names", "broker"]);
    let text = setting(ours(), Server::new(&stranger())).failure();
    assert_says(&text, "TLS: invalid peer certificate: UnknownIssuer");
    let builder = ours().dangerously_accept_any_name();
    let text = setting(builder, Server::new(&stranger())).failure();
    assert_says(&text, "TLS: invalid peer certificate: UnknownIssuer");
    let builder = TlsConfig::builder().roots_pem(&*STRANGER.pem);
    setting(builder, Server::new(&stranger())).warm();
}

#[test]
fn names_are_verified_unless_told_otherwise() {
    let elsewhere = || Server::new(&OURS.leaf(&["elsewhere", "10.0.0.7"]));
    let text = setting(ours(), elsewhere()).failure();
    assert_says(&text, "TLS: invalid peer certificate: certificate not valid for name \"names\"");
    assert_says(&text, "elsewhere");
    setting(ours().server_name("elsewhere"), elsewhere()).warm();
    setting(ours().server_name("10.0.0.7"), elsewhere()).warm();
    setting(ours().dangerously_accept_any_name(), elsewhere()).warm();
    let text = setting(ours().server_name("10.0.0.8"), elsewhere()).failure();
    assert_says(&text, "certificate not valid for name");

    // Only the broker's certificate is for another name: the name server's connection does.
    let mut setting = setting(ours(), Server::new(&OURS.leaf(&["names"])));
    let error = setting.send("hello").unwrap_err();
    let text = error.to_string();
    assert_says(&text, BROKER);
    assert_says(&text, "certificate not valid for name \"broker\"");
}

#[test]
fn an_address_that_no_certificate_can_name_is_told() {
    let world = World::new();
    let builder = Client::<World>::builder().name_server("fe80::1%eth0:9876");
    let client = builder.tls(ours().build().unwrap()).start_on(world.clone()).unwrap();
    let mut send = Hand::begun(client.producer("group").unwrap().send(message("x")));
    world.run();
    while send.flag.wakes() == 0 {
        world.pass(TICK);
        world.run();
    }
    let text = send.output().unwrap_err().to_string();
    assert_says(&text, "TLS: `fe80::1%eth0` is neither a host's name nor an IP address");
    assert!((0..world.pipes.len()).all(|pipe| world.pipes.with(pipe, |end| end.written.is_empty())));
}

#[test]
fn verification_can_be_skipped() {
    let builder = TlsConfig::builder().dangerously_skip_verification();
    for version in [&TLS12, &TLS13] {
        let server = Server::with(&STRANGER.leaf(&["elsewhere"]), None, &[version]);
        setting(TlsConfig::builder().dangerously_skip_verification(), server).warm();
    }
    setting(builder.roots_file("not/read"), Server::new(&SERVER)).warm();
}

#[test]
fn a_client_shows_its_certificate_when_asked() {
    let own = OURS.leaf(&["client"]);
    for version in [&TLS12, &TLS13] {
        let asks = || Server::with(&SERVER, Some(&OURS), &[version]);
        let setting_with = setting(ours().client_certificate_pem(&*own.pem, &*own.key), asks()).warm();
        assert_eq!(setting_with.server.client_certificates(), 2);
    }
    let setting = setting(ours().client_certificate_pem(&*own.pem, &*own.key), Server::new(&SERVER)).warm();
    assert_eq!(setting.server.client_certificates(), 0);
}

/// With TLS 1.3 the client is done with the handshake when its certificate is refused.
#[test]
fn why_a_client_certificate_is_refused_reaches_the_user() {
    let stranger = STRANGER.leaf(&["client"]);
    let rows = [
        (
            &TLS12,
            false,
            "TLS: received fatal alert: CertificateRequired; the server wants a certificate of this client",
        ),
        (
            &TLS13,
            false,
            "TLS: received fatal alert: CertificateRequired; the server wants a certificate of this client",
        ),
        (
            &TLS12,
            true,
            "TLS: received fatal alert: UnknownCA; the server does not accept this client's certificate",
        ),
        (
            &TLS13,
            true,
            "TLS: received fatal alert: UnknownCA; the server does not accept this client's certificate",
        ),
    ];
    for (version, shows, expected) in rows {
        let builder = match shows {
            true => ours().client_certificate_pem(&*stranger.pem, &*stranger.key),
            false => ours(),
        };
        let text = setting(builder, Server::with(&SERVER, Some(&OURS), &[version])).failure();
        assert_says(&text, expected);
    }
}

/// Case I4: what a server does that does not speak TLS.
#[test]
fn i4_a_server_without_tls_is_no_timeout() {
    const CLOSED: &str = "TLS: the server closed the connection during the handshake; does it speak TLS?";
    let rows: [(&[u8], bool, &str); 4] = [
        (b"", true, CLOSED),
        (b"\x16\x03", true, CLOSED),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", true, "TLS: what the server says is not TLS: "),
        (
            b"\0\0\0\x19\x01\0\0\x15\0\0\0\0\0\0\0\xff\xff\0\0\0",
            false,
            "TLS: what the server says is not TLS: ",
        ),
    ];
    for (says, closes, expected) in rows {
        let world = World::new();
        let client = world.builder().tls(ours().build().unwrap()).start_on(world.clone()).unwrap();
        let mut send = Hand::begun(client.producer("group").unwrap().send(message("hello")));
        world.run();
        let mut passed = Duration::ZERO;
        while send.flag.wakes() == 0 {
            for pipe in 0..world.pipes.len() {
                world.pipes.with(pipe, |end| {
                    end.unread.extend(says);
                    end.peer_closed = closes;
                });
            }
            world.run();
            world.pass(TICK);
            world.run();
            passed += TICK;
        }
        let error = send.output().unwrap_err();
        assert_says(&error.to_string(), expected);
        assert!(passed < Duration::from_secs(1) && error.is_retryable() && !error.may_have_been_stored());
        for pipe in 0..world.pipes.len() {
            world
                .pipes
                .with(pipe, |end| assert_eq!(end.written[0], 0x16, "a handshake, then and ever after"));
        }
    }
}

#[test]
fn a_write_that_fails_during_the_handshake_is_told_so() {
    let world = World::new();
    world.pipes.chunk(1);
    let client = world.builder().tls(ours().build().unwrap()).start_on(world.clone()).unwrap();
    let mut send = Hand::begun(client.producer("group").unwrap().send(message("hello")));
    world.run();
    while send.flag.wakes() == 0 {
        (0..world.pipes.len()).for_each(|pipe| world.pipes.with(pipe, |end| end.peer_closed = true));
        world.pass(TICK);
        world.run();
    }
    assert_says(&send.output().unwrap_err().to_string(), "does it speak TLS?");
}

#[test]
fn a_handshake_that_stalls_ends_with_the_connect_timeout() {
    let world = World::new();
    let timeout = Duration::from_millis(200);
    let builder = world.builder().tls(ours().build().unwrap()).connect_timeout(timeout);
    let client = builder.start_on(world.clone()).unwrap();
    let mut send = Hand::begun(client.producer("group").unwrap().send(message("hello")));
    world.run();
    let hello = world.pipes.with(0, |end| end.written.len());
    world.pass(timeout);
    world.run();
    world.pipes.with(0, |end| assert!(end.dropped && end.written.len() == hello, "not a byte more"));
    while send.flag.wakes() == 0 {
        world.pass(timeout);
        world.run();
    }
    let Err(Error::Send(error)) = send.output() else { panic!("nobody answered") };
    let SendErrorKind::RouteUnavailable { servers } = error.kind() else { panic!("{error:?}") };
    let cause = CloseCause::ConnectTimeout { after: timeout };
    assert_eq!(servers[0].error, Some(RequestError::Connect(cause)));
}

#[test]
fn a_shutdown_says_goodbye() {
    let mut setting = setting(ours(), Server::new(&SERVER)).warm();
    let mut shutdown = Hand::begun(setting.client.shutdown());
    setting.peer.run();
    shutdown.output().unwrap();
    setting.peer.run();
    assert_eq!((setting.server.goodbyes(), setting.world.pipes.open()), (2, 0));
}

#[test]
fn a_server_may_leave_without_a_goodbye() {
    let mut setting = setting(ours(), Server::new(&SERVER)).warm();
    setting.peer.holds = true;
    let mut answered = Hand::begun(setting.producer.send(message("answered")));
    setting.peer.run();
    setting.peer.release();
    let broker = setting.peer.pipe(BROKER);
    setting.world.pipes.with(broker, |end| end.peer_closed = true);
    setting.world.pass(TICK);
    setting.peer.run();
    assert_eq!(answered.output().unwrap().attempts, 1);
    assert!(setting.world.pipes.with(broker, |end| end.dropped));
    setting.peer.holds = false;
    setting.send("on a new connection").unwrap();
    assert_eq!(setting.server.resumed(), 1, "with the session of the one before");
}

#[test]
fn answers_count_that_came_before_a_broken_record() {
    let Setting { world, mut peer, producer, .. } = setting(ours(), Server::new(&SERVER)).warm();
    peer.holds = true;
    let mut answered = Hand::begun(producer.send(message("answered")));
    let mut open = Hand::begun(producer.send_oneway(message("oneway")));
    peer.run();
    open.output().unwrap();
    peer.release();
    let broker = peer.pipe(BROKER);
    world
        .pipes
        .with(broker, |end| end.unread.extend(b"\x17\x03\x03\x00\x20 this is no record of this session"));
    peer.run();
    assert_eq!(answered.output().unwrap().attempts, 1);
    assert!(world.pipes.with(broker, |end| end.dropped));
}

#[test]
fn large_and_many_small_messages_arrive_whole() {
    const SMALL: usize = 1_000;
    let setting = setting(ours(), Server::new(&SERVER)).warm();
    let Setting { world, mut peer, client, producer, .. } = setting;
    let large: bytes::Bytes = (0..3 << 20).map(|i: u32| (i >> 3) as u8).collect::<Vec<_>>().into();
    let broker = peer.pipe(BROKER);
    let writes = world.pipes.with(broker, |end| end.writes);
    let mut sends: Vec<_> = (0..SMALL).map(|i| Hand::begun(producer.send(message(format!("{i}"))))).collect();
    sends.push(Hand::begun(producer.send(message(large.clone()))));
    peer.run();
    sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
    let bodies = peer.bodies();
    assert_eq!(bodies.len(), SMALL + 1);
    assert!(bodies[..SMALL].iter().enumerate().all(|(i, body)| *body == i.to_string().as_bytes()));
    assert_eq!(bodies[SMALL], large);
    let written = world.pipes.with(broker, |end| end.writes) - writes;
    assert!(written < 100, "records go out together: {written} writes");
    assert_eq!((client.stats().operations, client.stats().misuses), (0, 0));
}

/// Reads are as long as those of a plain stream, or bounds that count reads would mean less.
#[test]
fn answers_are_read_as_they_lie_there() {
    const COUNT: usize = 2_000;
    let Setting { mut peer, client, producer, .. } = setting(ours(), Server::new(&SERVER)).warm();
    peer.holds = true;
    let mut sends: Vec<_> = (0..COUNT).map(|i| Hand::begun(producer.send(message(format!("{i}"))))).collect();
    peer.run();
    let before = client.driver_stats();
    assert_eq!(peer.release(), COUNT);
    peer.run();
    sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
    let reads = client.driver_stats().since(before).reads;
    assert!(reads < 16, "{reads} reads");
}

#[test]
fn bug_09_a_dropped_send_leaves_whole_records_and_frames_behind() {
    let Setting { world, mut peer, client, producer, .. } = setting(ours(), Server::new(&SERVER)).warm();
    let broker = peer.pipe(BROKER);
    world.pipes.with(broker, |end| end.room = 5);
    let first = Hand::begun(producer.send(message(vec![b'x'; 200_000])));
    let never = Hand::begun(producer.send(message(vec![b'y'; 300_000])));
    world.run();
    assert_eq!(world.pipes.with(broker, |end| (end.written.len(), end.room)), (5, 0));
    drop(first);
    drop(never);
    let mut second = Hand::begun(producer.send(message("second")));
    world.pipes.with(broker, |end| end.room = usize::MAX);
    peer.run();
    assert!(second.output().is_ok());
    assert_eq!(peer.bodies().last(), Some(&&b"second"[..]));
    assert_eq!(peer.bodies()[0].len(), 200_000);
    let stats = client.stats();
    assert_eq!((stats.operations, stats.awaited, stats.cancelled, stats.misuses), (0, 0, 2, 0));
}

/// Case I5.
#[test]
fn i5_a_configuration_of_rustls_is_taken_as_it_is() {
    let own = OURS.leaf(&["client"]);
    let mut provider = ring::default_provider();
    provider.cipher_suites.retain(|suite| format!("{suite:?}").contains("CHACHA20"));
    let config = ClientConfig::builder_with_provider(Arc::new(provider));
    let config = config.with_protocol_versions(&[&TLS13]).unwrap().with_root_certificates(OURS.roots());
    let config = Arc::new(config.with_client_auth_cert(own.chain(), own.private_key()).unwrap());
    let tls = TlsConfig::from_rustls(Arc::clone(&config));

    let server = Server::with(&SERVER, Some(&OURS), ALL_VERSIONS);
    let setting = setting_in(World::new(), tls.clone(), server).warm();
    assert_eq!(setting.server.client_certificates(), 2);
    let old = Server::with(&SERVER, Some(&OURS), &[&TLS12]);
    let text = setting_in(World::new(), tls.clone(), old).failure();
    assert_says(&text, "TLS: received fatal alert: ProtocolVersion");
    let elsewhere = Server::with(&OURS.leaf(&["elsewhere"]), Some(&OURS), ALL_VERSIONS);
    setting_in(World::new(), tls.with_server_name("elsewhere").unwrap(), elsewhere).warm();
}

/// A proxy that lets everything through, and what it was asked for.
struct Through(Server, std::cell::RefCell<std::collections::BTreeMap<usize, usize>>);

impl Wire for Through {
    fn open(&self, pipes: &Pipes, pipe: usize, mut data: Vec<u8>) -> Vec<u8> {
        const ANSWERS: [&[u8]; 2] = [&[5, 0], &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]];
        let mut steps = self.1.borrow_mut();
        let step = steps.entry(pipe).or_default();
        if let Some(answer) = ANSWERS.get(*step) {
            *step += 1;
            pipes.with(pipe, |end| end.unread.extend(*answer));
            data.clear();
        }
        if data.is_empty() { data } else { self.0.open(pipes, pipe, data) }
    }

    fn seal(&self, pipe: usize, data: Vec<u8>) -> Vec<u8> {
        self.0.seal(pipe, data)
    }
}

#[test]
fn tls_goes_through_a_proxy_to_the_server() {
    let world = World::new();
    let server = Server::new(&SERVER);
    let builder = world.builder().tls(ours().build().unwrap());
    let builder = builder.socks5(Socks5::new("proxy:1080".parse().unwrap()));
    let client = builder.start_on(world.clone()).unwrap();
    let mut peer = Peer::new(&world);
    peer.wire = Some(Box::new(Through(server.clone(), Default::default())));
    let mut send = Hand::begun(client.producer("group").unwrap().send(message("hello")));
    peer.run();
    send.output().unwrap();
    assert!(server.saw_no_plaintext(&["hello", "orders"]));
}
