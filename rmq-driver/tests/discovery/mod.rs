//! Name servers that are looked up.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::world::{Hand, NAME_SERVER, Peer, World};
use rmq_driver::{
    Address, AddressServerProblem, Client, ConfigError, Error, Fetched, Message, NameServerSource,
    NameServerSourceError, SendErrorKind, StartError,
};

const SECOND: Duration = Duration::from_secs(1);
const URL: &str = "http://addresses:8080/rocketmq/nsaddr";
const SERVER: &str = "addresses:8080";

fn started(world: &World) -> Client<World> {
    Client::<World>::builder().address_server(URL).start_on(world.clone()).unwrap()
}

/// The newest stream to the address server.
fn pipe(world: &World) -> usize {
    let is_it = |index: &usize| world.pipes.with(*index, |end| end.address == SERVER);
    (0..world.pipes.len()).rev().find(is_it).expect("the address server was connected to")
}

/// What the address server was asked since the last call.
fn asked(world: &World) -> String {
    world.run();
    let written = world.pipes.with(pipe(world), |end| std::mem::take(&mut end.written));
    String::from_utf8(written).unwrap()
}

fn answer(world: &World, text: &str) {
    world.pipes.with(pipe(world), |end| end.unread.extend(text.as_bytes()));
    world.run();
}

fn answer_list(world: &World, list: &str) {
    answer(world, &format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{list}", list.len()));
}

fn pass(world: &World, time: Duration) {
    world.pass(time);
    world.run();
}

#[test]
fn sends_wait_for_the_first_list() {
    let world = World::new();
    let client = started(&world);
    let producer = client.producer("group").unwrap();
    let mut send = Hand::begun(producer.send(Message::new("orders", "hello")));
    let request = asked(&world);
    assert!(request.starts_with("GET /rocketmq/nsaddr HTTP/1.1\r\nHost: addresses:8080\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n"), "{request}");
    answer_list(&world, &format!("{NAME_SERVER}\n"));
    let mut peer = Peer::new(&world);
    peer.run();
    send.output().unwrap();
    assert_eq!(client.name_server_source_error(), None);
    let http = pipe(&world);
    assert!(world.pipes.with(http, |end| end.dropped), "its connection is closed");
    let mut shutdown = Hand::begun(client.shutdown());
    peer.run();
    shutdown.output().unwrap();
    assert_eq!(world.tasks(), 0, "the look-ups end with the client");
}

/// Producer §2.4: at once, 10 s later, then each 120 s; the same answer changes nothing, another one does.
#[test]
fn when_it_is_asked() {
    let world = World::new();
    let client = started(&world);
    for (pause, list) in [(0, "a:1;b:2"), (10, "b:2;a:1"), (120, "a:1;b:2"), (120, "c:3"), (120, "c:3")] {
        pass(&world, (pause * SECOND).saturating_sub(SECOND / 10));
        let looks = client.driver_stats().fetches;
        if pause > 0 {
            pass(&world, SECOND / 5);
        }
        assert!(asked(&world).starts_with("GET "), "after {pause} s");
        answer_list(&world, list);
        assert_eq!(client.driver_stats().fetches, looks + 1, "after {pause} s");
    }
    let stats = client.driver_stats();
    assert_eq!((stats.fetches, stats.failed_fetches), (5, 0));
}

/// Each failure has a type, leaves the list as it was, and is followed by another look.
#[test]
fn what_goes_wrong_is_told() {
    let world = World::new();
    let client = started(&world);
    let problem = || match client.name_server_source_error() {
        Some(NameServerSourceError::AddressServer { address, problem }) if address.to_string() == SERVER => {
            problem
        }
        other => panic!("{other:?}"),
    };
    let next = |text: &str| {
        assert!(asked(&world).starts_with("GET "), "before {text:?}");
        answer(&world, text);
    };
    next("HTTP/1.1 503 Sorry\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(problem(), AddressServerProblem::Status(503));
    pass(&world, 10 * SECOND);
    next("what?\r\n\r\n");
    assert!(matches!(problem(), AddressServerProblem::NotHttp(_)));
    pass(&world, 10 * SECOND);
    next(&"x".repeat(70_000));
    assert!(matches!(problem(), AddressServerProblem::TooLong { .. }));
    pass(&world, 10 * SECOND);
    next("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\n");
    assert_eq!(client.name_server_source_error(), Some(NameServerSourceError::Empty));
    pass(&world, 10 * SECOND);
    next("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnone");
    assert!(matches!(client.name_server_source_error(), Some(NameServerSourceError::List(_))));
    pass(&world, 10 * SECOND);
    next("HTTP/1.1 200");
    pass(&world, 3 * SECOND);
    assert_eq!(problem(), AddressServerProblem::TimedOut { after: 3 * SECOND });
    pass(&world, 10 * SECOND);
    next("");
    let http = pipe(&world);
    world.pipes.with(http, |end| end.peer_closed = true);
    world.run();
    assert!(matches!(problem(), AddressServerProblem::NotHttp("it ends within its head")));
    world.pipes.refuse(SERVER);
    pass(&world, 10 * SECOND);
    assert!(matches!(problem(), AddressServerProblem::Connect(_)));
    world.pipes.swallow(SERVER);
    pass(&world, 10 * SECOND);
    pass(&world, 3 * SECOND);
    assert_eq!(problem(), AddressServerProblem::TimedOut { after: 3 * SECOND });
    assert_eq!((client.driver_stats().fetches, client.driver_stats().failed_fetches), (9, 9));
    let text = client.name_server_source_error().unwrap().to_string();
    assert_eq!(text, "address server addresses:8080: nothing within 3s");
}

/// Without a list, a send ends in its time, and may be tried again.
#[test]
fn a_send_without_a_list_ends_in_its_time() {
    let world = World::new();
    world.pipes.swallow(SERVER);
    let client = started(&world);
    let mut send = Hand::begun(client.producer("group").unwrap().send(Message::new("orders", "hello")));
    world.run();
    pass(&world, 3 * SECOND);
    let error = send.output().unwrap_err();
    let Error::Send(send) = &error else { panic!("{error}") };
    assert_eq!(*send.kind(), SendErrorKind::RouteUnavailable { servers: Vec::new() });
    assert!(error.is_retryable());
}

#[test]
fn urls_that_are_none_and_tasks_that_cannot_be_started() {
    let world = World::new();
    let start = |url: &str| Client::<World>::builder().address_server(url).start_on(world.clone());
    let error = start("https://addresses/x").unwrap_err();
    assert!(matches!(&error, StartError::AddressServer { url, .. } if url == "https://addresses/x"));
    assert!(error.to_string().contains("it does not begin with http://"), "{error}");
    world.refuse_tasks();
    assert!(matches!(start(URL), Err(StartError::Spawn(_))));
    let none = Client::<World>::builder().start_on(World::new());
    assert!(matches!(none, Err(StartError::Config(ConfigError::NoNameServer))));
}

/// A source of a user's own, which gives out what a test says.
struct Lists(Arc<Mutex<VecDeque<Fetched>>>);

impl NameServerSource for Lists {
    fn fetch(&mut self) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>> {
        let next = self.0.lock().unwrap().pop_front();
        Box::pin(async move { next.unwrap_or_else(|| Err(NameServerSourceError::other("no more"))) })
    }
}

#[test]
fn a_users_own_source() {
    let world = World::new();
    let lists: VecDeque<Fetched> = [
        Err(NameServerSourceError::other("not yet")),
        Ok(vec![Address::new("old", 9876)]),
        Ok(Address::parse_list(NAME_SERVER).unwrap()),
    ]
    .into();
    let source = Lists(Arc::new(Mutex::new(lists)));
    let builder = Client::<World>::builder().name_server_source(source);
    let client = builder.start_on(world.clone()).unwrap();
    world.run();
    assert_eq!(client.name_server_source_error(), Some(NameServerSourceError::other("not yet")));
    pass(&world, 10 * SECOND);
    assert_eq!(client.name_server_source_error(), None);
    pass(&world, 120 * SECOND);
    let mut send = Hand::begun(client.producer("group").unwrap().send(Message::new("orders", "hello")));
    Peer::new(&world).run();
    send.output().unwrap();
    // Dropping the last handle ends the look-ups, too.
    drop((client, send));
    world.run();
    assert_eq!(world.tasks(), 0);
}

/// What the builder was given serves until the first list comes.
#[test]
fn given_name_servers_serve_until_the_first_list() {
    let world = World::new();
    world.pipes.refuse(SERVER);
    let client = world.builder().address_server(URL).start_on(world.clone()).unwrap();
    let mut send = Hand::begun(client.producer("group").unwrap().send(Message::new("orders", "hello")));
    Peer::new(&world).run();
    send.output().unwrap();
    assert!(client.name_server_source_error().is_some());
}

#[test]
fn a_list_set_by_hand() {
    let world = World::new();
    let client = world.client();
    let producer = client.producer("group").unwrap();
    let mut peer = Peer::new(&world);
    let mut send = Hand::begun(producer.send(Message::new("orders", "one")));
    peer.run();
    send.output().unwrap();
    let old = peer.pipe(NAME_SERVER);
    assert_eq!(client.set_name_servers(NAME_SERVER), Ok(false));
    assert!(matches!(client.set_name_servers("nowhere"), Err(ConfigError::NameServer(_))));
    assert_eq!(client.set_name_servers(" ; "), Err(ConfigError::NoNameServer));
    assert_eq!(client.set_name_servers("other:9876"), Ok(true));
    peer.run();
    assert!(world.pipes.with(old, |end| end.dropped));
    let mut send = Hand::begun(producer.send(Message::new("others", "two")));
    peer.run();
    send.output().unwrap();
    peer.pipe("other:9876");
    let mut shutdown = Hand::begun(client.shutdown());
    peer.run();
    shutdown.output().unwrap();
    assert_eq!(client.set_name_servers(NAME_SERVER), Err(ConfigError::ShutDown));
}
