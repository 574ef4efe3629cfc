//! Lists of name servers that change (producer §2.1 to §2.3).

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::{
    Address, ClientConfig, CloseCause, ConfigError, Event, ProducerConfig, SendErrorKind, SendOptions,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, at, config, ms, route};

const ROUTE: i32 = RequestCode::GET_ROUTEINFO_BY_TOPIC.0;

fn list(text: &str) -> Vec<Address> {
    Address::parse_list(text).unwrap()
}

fn set(net: &mut Net, text: &str) -> Result<bool, ConfigError> {
    net.client.set_name_servers(net.now, list(text))
}

/// Name servers that were asked, in order.
fn asked(net: &Net) -> Vec<String> {
    net.requests(RequestCode::GET_ROUTEINFO_BY_TOPIC).iter().map(|seen| seen.address.clone()).collect()
}

/// Sends to a topic that was never asked for, so that a name server is.
fn ask(net: &mut Net, topic: &str) {
    net.routes.insert(topic.into(), route(&[("a", 1)]));
    let op = net.send(topic, SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
}

/// C5: the server in use is no longer in the list: its connection closes, and the next question goes to the new ones.
#[test]
fn c5_a_removed_server_is_left() {
    let mut net = Net::new();
    net.warm();
    assert_eq!(set(&mut net, "ns2:9876; ns3:9876 ;"), Ok(true));
    net.run(ms(0));
    assert_eq!(net.closes, [(at(0), NAME_SERVER.to_owned())]);
    let unlisted =
        |event: &Event| matches!(event, Event::ConnectionClosed { cause: CloseCause::Unlisted, .. });
    assert!(net.events.iter().any(|(_, event)| unlisted(event)));
    ask(&mut net, "U");
    assert!(["ns2:9876", "ns3:9876"].contains(&&*asked(&net)[0]), "{:?}", asked(&net));
    let links = net.client.stats().links;
    net.run(ms(200));
    assert_eq!(net.client.stats().links, links, "the old server is forgotten at once");
}

#[test]
fn the_server_in_use_stays_if_it_is_in_the_list() {
    let mut net = Net::new();
    net.warm();
    assert_eq!(set(&mut net, "ns2:9876;ns:9876;ns3:9876"), Ok(true));
    ask(&mut net, "U");
    assert_eq!(asked(&net), [NAME_SERVER]);
    assert!(net.closes.is_empty());
}

#[test]
fn what_changes_nothing() {
    let mut net = Net::new();
    assert_eq!(set(&mut net, "ns:9876"), Ok(false));
    assert_eq!(set(&mut net, ""), Err(ConfigError::NoNameServer));
    assert_eq!(set(&mut net, "ns:9876;ns2:9876"), Ok(true));
    let before = format!("{:?}", net.client);
    assert_eq!(set(&mut net, "ns2:9876;ns:9876;ns2:9876"), Ok(false));
    assert_eq!(format!("{:?}", net.client), before, "another order is no change");
    assert_eq!(set(&mut net, "ns2:9876"), Ok(true), "one less is");
    net.client.shutdown(net.now, ms(0));
    assert_eq!(set(&mut net, "ns:9876"), Err(ConfigError::ShutDown));
}

/// A question that waits goes on to those that it was not put to; each server is asked once.
#[test]
fn a_question_goes_on_to_the_new_list() {
    let config = config().name_server("ns2:9876").build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    for server in ["ns:9876", "ns2:9876", "ns3:9876"] {
        net.peer(server).accept = Some(Accept::Never);
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(1_600));
    let first: Vec<_> = net.connects.iter().map(|(_, address)| address.clone()).collect();
    assert_eq!(first.len(), 2, "one had its time, the other is asked: {first:?}");
    assert_eq!(set(&mut net, "ns:9876;ns2:9876;ns3:9876;ns4:9876"), Ok(true));
    net.run(ms(1_400));
    net.take_sent(op);
    let mut all: Vec<_> = net.connects.iter().map(|(_, address)| address.clone()).collect();
    all.retain(|address| address.starts_with("ns"));
    let mut once = all.clone();
    once.sort();
    once.dedup();
    assert_eq!(all.len(), once.len(), "{all:?}");
}

/// A broker may be at the address of a server that is removed: it keeps its connection.
#[test]
fn a_broker_at_a_removed_address_keeps_its_connection() {
    let address = address_of("a");
    let config = ClientConfig::builder().name_server(&address).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    assert_eq!(set(&mut net, NAME_SERVER), Ok(true));
    net.run(ms(1_000));
    assert!(net.closes.is_empty(), "{:?}", net.closes);
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
}

/// C4: the route of a topic serves on while the servers of another list know nothing of it yet.
#[test]
fn c4_a_route_outlives_the_change_of_its_servers() {
    let config = config().route_refresh_interval(ms(10_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.warm();
    set(&mut net, "ns2:9876;ns3:9876").unwrap();
    for server in ["ns2:9876", "ns3:9876"] {
        net.peer(server).others.insert(ROUTE, Act::Code(ResponseCode::TOPIC_NOT_EXIST, ""));
    }
    net.run(ms(23_000));
    assert!(asked(&net).len() >= 4, "each is asked in each round");
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
}

/// X3: a server that answers an error, without a word, costs neither the route nor the question.
#[test]
fn x3_an_error_without_a_remark_goes_on_to_the_next() {
    let config = config().name_server("ns2:9876").route_refresh_interval(ms(10_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.warm();
    let broken = ["ns:9876", "ns2:9876"].into_iter().find(|server| net.conn(server).is_some()).unwrap();
    net.peer(broken).others.insert(ROUTE, Act::Code(ResponseCode::SYSTEM_ERROR, ""));
    net.routes.insert("T".into(), route(&[("a", 3)]));
    net.run(ms(12_000));
    assert_eq!(asked(&net).len(), 2, "the other is asked in the same round");
    assert_eq!(net.client.publish_queues(net.now, "T").unwrap().len(), 3);
    net.peer(if broken == "ns:9876" { "ns2:9876" } else { "ns:9876" })
        .others
        .insert(ROUTE, Act::Code(ResponseCode::SYSTEM_ERROR, ""));
    net.run(ms(60_000));
    assert_eq!(net.client.publish_queues(net.now, "T").unwrap().len(), 3, "the route is kept");
}

/// B6: a name server that takes everything and says nothing is dropped after the second timeout, and asked anew.
#[test]
fn b6_a_half_open_name_server_is_dropped() {
    let config = config().route_refresh_interval(ms(5_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.warm();
    net.peer(NAME_SERVER).others.insert(ROUTE, Act::Silent);
    net.run(ms(18_000));
    let closes: Vec<_> = net.closes.iter().map(|(_, address)| address.as_str()).collect();
    assert_eq!(closes, [NAME_SERVER], "one timeout is not enough, two are");
    net.peer(NAME_SERVER).others.clear();
    net.forget();
    ask(&mut net, "U");
    assert_eq!(net.connects.iter().filter(|(_, address)| address == NAME_SERVER).count(), 1);
    // An answer that comes late, to a caller with little time, says nothing against the connection.
    net.forget();
    net.ns_latency = 100;
    net.routes.insert("V".into(), route(&[("a", 1)]));
    for _ in 0..5 {
        net.send("V", SendOptions::default().timeout(ms(20)));
        net.run(ms(30));
    }
    assert!(net.closes.is_empty(), "{:?}", net.closes);
}

/// A list that is to come is waited for, as an answer is.
#[test]
fn sends_wait_for_a_list_that_follows() {
    let config = ClientConfig::builder().build().unwrap().name_servers_follow();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    let late = net.send("T", SendOptions::default().timeout(ms(100)));
    let op = net.send("T", SendOptions::default());
    net.run(ms(500));
    let (when, error) = net.take_error(late);
    assert_eq!((when, error.kind()), (at(100), &SendErrorKind::RouteUnavailable { servers: Vec::new() }));
    assert!(
        error.is_retryable() && error.to_string().contains("no list of name servers has come"),
        "{error}"
    );
    assert!(net.connects.is_empty());
    assert_eq!(set(&mut net, NAME_SERVER), Ok(true));
    net.run(ms(0));
    assert_eq!(net.take_sent(op).0, at(500));
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.queued, stats.awaited), (0, 0, 0));
}
