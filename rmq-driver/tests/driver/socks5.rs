//! Connections through a proxy.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use rmq_driver::{Address, Error, Socks5, Socks5LoginError};

use super::message;
use super::world::{Hand, NAME_SERVER, Peer, Pipes, Wire, World};

const PROXY: &str = "proxy:1080";

/// What the proxy says to the greeting, to the login, and to the request.
#[derive(Clone, Copy)]
struct Script {
    method: &'static [u8],
    login: &'static [u8],
    reply: &'static [u8],
}

const OPEN: Script = Script { method: &[5, 0], login: &[1, 0], reply: &[5, 0, 0, 1, 10, 0, 0, 9, 4, 56] };

/// A proxy, and what is behind it.
#[derive(Clone)]
struct Proxy {
    script: Script,
    streams: Rc<RefCell<BTreeMap<usize, Stream>>>,
}

#[derive(Default)]
struct Stream {
    heard: Vec<u8>,
    /// What was said of the proxy's own protocol, message by message.
    said: Vec<Vec<u8>>,
}

/// The length of a message of the protocol, once enough of it is there to say.
fn length(step: usize, login: bool, heard: &[u8]) -> Option<usize> {
    let at = |index: usize| heard.get(index).map(|byte| usize::from(*byte));
    match (step, login) {
        (0, _) => Some(2 + at(1)?),
        (1, true) => Some(3 + at(1)? + at(2 + at(1)?)?),
        _ => Some(match at(3)? {
            1 => 10,
            4 => 22,
            _ => 7 + at(4)?,
        }),
    }
}

impl Wire for Proxy {
    fn open(&self, pipes: &Pipes, pipe: usize, data: Vec<u8>) -> Vec<u8> {
        let mut streams = self.streams.borrow_mut();
        let stream = streams.entry(pipe).or_default();
        let login = self.script.method.get(1) == Some(&2);
        let steps = if login { 3 } else { 2 };
        stream.heard.extend(data);
        while stream.said.len() < steps {
            let step = stream.said.len();
            let Some(len) = length(step, login, &stream.heard).filter(|len| *len <= stream.heard.len())
            else {
                return Vec::new();
            };
            stream.said.push(stream.heard.drain(..len).collect());
            let answer = match (step, login) {
                (0, _) => self.script.method,
                (1, true) => self.script.login,
                _ => self.script.reply,
            };
            pipes.with(pipe, |end| {
                end.unread.extend(answer);
                end.peer_closed = answer.is_empty();
            });
        }
        std::mem::take(&mut stream.heard)
    }

    fn seal(&self, _: usize, data: Vec<u8>) -> Vec<u8> {
        data
    }
}

fn proxy() -> Socks5 {
    Socks5::new(PROXY.parse().unwrap())
}

/// What came of a send, and what the proxy was told on its first stream.
fn send(script: Script, proxy: Socks5, name_server: &str, chunk: usize) -> (Result<(), Error>, Vec<Vec<u8>>) {
    let world = World::new();
    world.pipes.chunk(chunk);
    let streams = Rc::default();
    let mut peer = Peer::new(&world);
    peer.wire = Some(Box::new(Proxy { script, streams: Rc::clone(&streams) }));
    let builder = rmq_driver::Client::<World>::builder().name_server(name_server);
    let client = builder.socks5(proxy).start_on(world.clone()).unwrap();
    let mut send = Hand::begun(client.producer("group").unwrap().send(message("x")));
    peer.run();
    while send.flag.wakes() == 0 {
        world.pass(Duration::from_millis(100));
        peer.run();
    }
    let of_proxy = |index| world.pipes.with(index, |end| end.address == PROXY);
    assert!((0..world.pipes.len()).all(of_proxy), "nothing goes past the proxy");
    (send.output().map(drop), streams.take().remove(&0).unwrap_or_default().said)
}

#[test]
fn hosts_are_named_to_the_proxy_which_resolves_them() {
    let rows: [(&str, &[u8]); 3] = [
        (NAME_SERVER, b"\x05\x01\x00\x03\x05names\x26\x94"),
        ("10.0.0.2:9876", b"\x05\x01\x00\x01\x0a\x00\x00\x02\x26\x94"),
        ("[fd00::1]:9876", b"\x05\x01\x00\x04\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x26\x94"),
    ];
    for (name_server, request) in rows {
        for chunk in [1, 1_000] {
            let (sent, said) = send(OPEN, proxy(), name_server, chunk);
            sent.unwrap();
            assert_eq!(said, [&b"\x05\x01\x00"[..], request], "{name_server}, {chunk} bytes at a time");
        }
    }
}

#[test]
fn what_the_proxy_says_of_itself_may_have_any_form() {
    for reply in
        [&b"\x05\0\0\x03\x04here\x04\x38"[..], b"\x05\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x04\x38"]
    {
        send(Script { reply, ..OPEN }, proxy(), NAME_SERVER, 1_000).0.unwrap();
    }
}

#[test]
fn it_logs_in_when_asked() {
    let login = || proxy().login("user", "secret").unwrap();
    let (sent, said) = send(Script { method: &[5, 2], ..OPEN }, login(), NAME_SERVER, 1);
    sent.unwrap();
    assert_eq!(said[..2], [&b"\x05\x02\x00\x02"[..], b"\x01\x04user\x06secret"]);
    send(OPEN, login(), NAME_SERVER, 1_000).0.unwrap();
    assert!(!format!("{:?}", login()).contains("secret"));
    for (user, password) in [("", "x"), ("x", ""), (&*"x".repeat(256), "x")] {
        assert_eq!(proxy().login(user, password).unwrap_err(), Socks5LoginError);
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    let login = || proxy().login("user", "secret").unwrap();
    let refused = |reply| (Script { reply, ..OPEN }, proxy());
    let rows = [
        (refused(&[5, 1, 0, 1]), "it failed (reply 1)"),
        (refused(&[5, 2, 0, 1]), "its rules do not allow the connection (reply 2)"),
        (refused(&[5, 3, 0, 1]), "the network cannot be reached from it (reply 3)"),
        (
            refused(&[5, 4, 0, 1]),
            "the host cannot be reached from it, or it does not know the name (reply 4)",
        ),
        (refused(&[5, 5, 0, 1]), "the connection was refused (reply 5)"),
        (refused(&[5, 6, 0, 1]), "the connection took too long (reply 6)"),
        (refused(&[5, 7, 0, 1]), "it opens no connections for others (reply 7)"),
        (refused(&[5, 8, 0, 1]), "it does not know this kind of address (reply 8)"),
        (refused(&[5, 99, 0, 1]), "it failed for a reason that has no name (reply 99)"),
        (refused(&[4, 0, 0, 1]), "what it says is not SOCKS5"),
        (refused(&[5, 0, 0, 9]), "what it says is not SOCKS5"),
        (refused(&[]), "it closed the connection before it had answered"),
        ((Script { method: b"HTTP/1.1 400", ..OPEN }, proxy()), "what it says is not SOCKS5"),
        ((Script { method: &[5, 255], ..OPEN }, proxy()), "it wants a login, and none was given"),
        (
            (Script { method: &[5, 255], ..OPEN }, login()),
            "it takes neither a login with user and password nor none",
        ),
        (
            (Script { method: &[5, 2], login: &[1, 1], ..OPEN }, login()),
            "it does not accept the user or the password",
        ),
    ];
    for ((script, proxy), expected) in rows {
        let error = send(script, proxy, NAME_SERVER, 1_000).0.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&format!("SOCKS5 proxy {PROXY}: {expected}")), "{text}");
        assert!(text.contains(NAME_SERVER) && !text.contains("secret"), "{text}");
        assert!(error.is_retryable() && !error.may_have_been_stored());
    }
    let long = Address::new(&"x".repeat(256), 1).to_string();
    let text = send(OPEN, proxy(), &long, 1_000).0.unwrap_err().to_string();
    assert!(text.contains("a host's name of more than 255 bytes"), "{text}");
}

#[test]
fn a_proxy_that_does_not_answer_costs_the_connect_timeout() {
    let world = World::new();
    let builder = world.builder().socks5(proxy()).connect_timeout(Duration::from_millis(200));
    let client = builder.start_on(world.clone()).unwrap();
    let mut send = Hand::begun(client.producer("group").unwrap().send(message("x")));
    world.run();
    let greeted = world.pipes.with(0, |end| std::mem::take(&mut end.written));
    assert_eq!(greeted, [5, 1, 0]);
    world.pass(Duration::from_millis(200));
    world.run();
    assert!(world.pipes.with(0, |end| end.dropped));
    while send.flag.wakes() == 0 {
        world.pass(Duration::from_millis(200));
        world.run();
    }
    let text = send.output().unwrap_err().to_string();
    assert!(text.contains("no connection within 200 ms"), "{text}");
}
