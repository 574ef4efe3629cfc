//! Events that end no operation: each change of what the client knows is told, and told once.

use std::num::NonZeroU32;

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::trace::TRACE_TOPIC;
use rmq_core::{Event, FaultTolerance, Limits, MetricKind, OpId, ProducerConfig, SendOptions, Stats, Trace};

use crate::support::{Accept, Act, NAME_SERVER, Net, config, ms, route};

const SECOND: u64 = 1_000;
const DENY: Act = Act::Code(ResponseCode::SYSTEM_ERROR, "told to");

/// What was told since the last call, ends of operations, connections and times left out.
fn told(net: &mut Net) -> Vec<String> {
    let events = std::mem::take(&mut net.events);
    let line = |event: Event| match event {
        Event::RouteLearned { topic, brokers, queues, changed } => {
            let what = if changed { "changed" } else { "learned" };
            Some(format!("{topic} {what}: {brokers} brokers, {queues} queues"))
        }
        Event::RouteLost { topic, cause } => Some(format!("{topic} lost: {cause}")),
        Event::NameServersFailed { topic, servers } => {
            let servers: Vec<_> = servers.iter().map(ToString::to_string).collect();
            Some(format!("no server for {topic}: {}", servers.join("; ")))
        }
        Event::NameServersRecovered => Some("servers again".into()),
        Event::NameServerSwitched { from, to } => Some(format!("{from} to {to}")),
        Event::BrokerIsolated { broker, span, .. } => Some(format!("{broker} isolated for {span:?}")),
        Event::BrokerRecovered { broker, .. } => Some(format!("{broker} recovered")),
        Event::HeartbeatRefused { address, code, .. } => Some(format!("{address} refuses: {code}")),
        Event::HeartbeatAccepted { address } => Some(format!("{address} accepts")),
        Event::TraceFailed { records, error, .. } => {
            Some(format!("{records} records lost of {}", error.topic()))
        }
        _ => None,
    };
    events.into_iter().filter_map(|(_, event)| line(event)).collect()
}

fn sent(net: &mut Net, topic: &str) -> OpId {
    let op = net.send(topic, SendOptions::default());
    net.run(ms(0));
    op
}

#[test]
fn routes_are_told_when_they_come_change_and_go() {
    let mut net = Net::new();
    sent(&mut net, "T");
    assert_eq!(told(&mut net), ["T learned: 2 brokers, 4 queues"]);
    net.run(ms(100 * SECOND));
    assert_eq!(told(&mut net), <[&str; 0]>::default(), "looks that bring the same are not told");
    net.routes.insert("T".into(), route(&[("a", 3)]));
    net.run(ms(60 * SECOND));
    assert_eq!(told(&mut net), ["T changed: 1 brokers, 3 queues"]);
    net.routes.clear();
    net.run(ms(120 * SECOND));
    assert_eq!(told(&mut net), ["T lost: no name server knows the topic any more"]);
}

#[test]
fn a_route_that_nobody_uses_or_has_room_for_is_told_to_be_lost() {
    let mut net = Net::with(
        config().limits(Limits { topics: 1, ..Limits::default() }).build().unwrap(),
        ProducerConfig::new("PG"),
    );
    net.routes.insert("U".into(), route(&[("a", 1)]));
    sent(&mut net, "T");
    sent(&mut net, "U");
    net.run(ms(700 * SECOND));
    assert_eq!(
        told(&mut net),
        [
            "T learned: 2 brokers, 4 queues",
            "T lost: more topics are in use than are kept",
            "U learned: 1 brokers, 1 queues",
            "U lost: nobody sends to the topic",
        ]
    );
    net.client.shutdown(net.now, ms(0));
    net.run(ms(0));
    assert_eq!(told(&mut net), <[&str; 0]>::default(), "a client that ends loses nothing");
}

/// Names within a namespace are the user's.
#[test]
fn a_route_is_told_by_its_users_name() {
    let config = config().namespace("ns").build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("ns%T".into(), route(&[("a", 1)]));
    sent(&mut net, "T");
    assert_eq!(told(&mut net), ["T learned: 1 brokers, 1 queues"]);
}

#[test]
fn name_servers_that_fail_switch_and_recover() {
    let servers = config().name_server("ns2:9876").build().unwrap();
    let mut net = Net::with(servers, ProducerConfig::new("PG"));
    for server in [NAME_SERVER, "ns2:9876"] {
        net.peer(server).accept = Some(Accept::Refuse);
    }
    sent(&mut net, "T");
    let lines = told(&mut net);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains(" to ") && lines[1].contains(" to "), "{lines:?}");
    assert!(lines[2].starts_with("no server for T: ns"), "{lines:?}");
    assert!(lines[2].matches("cannot connect: connection refused").count() == 2, "{lines:?}");
    net.run(ms(200));
    sent(&mut net, "T");
    assert!(told(&mut net).iter().all(|line| line.contains(" to ")), "that they fail is told once");
    for server in [NAME_SERVER, "ns2:9876"] {
        net.peer(server).accept = Some(Accept::Open);
    }
    net.run(ms(200));
    sent(&mut net, "T");
    assert_eq!(told(&mut net), ["servers again", "T learned: 2 brokers, 4 queues"]);
    assert_eq!(net.client.stats().route_failures, 2);
}

/// A question that had no time says nothing of those that it was put to.
#[test]
fn an_impatient_question_blames_nobody() {
    let config = config().request_timeout(ms(100)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.ns_latency = 200;
    net.send("T", SendOptions::default());
    net.run(ms(150));
    assert_eq!(told(&mut net), <[&str; 0]>::default());
    assert_eq!(net.client.stats().route_failures, 1);
}

#[test]
fn a_broker_is_told_to_be_isolated_and_to_recover_once() {
    let tolerance = FaultTolerance::new();
    let producer = ProducerConfig::new("PG").attempts(NonZeroU32::MIN).fault_tolerance(tolerance);
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").sends = [DENY, DENY, DENY].into();
    for _ in 0..3 {
        sent(&mut net, "T");
        net.run(ms(SECOND));
    }
    assert_eq!(told(&mut net), ["a isolated for 10s"]);
    let stats = net.client.stats();
    assert_eq!((stats.isolations, stats.brokers_isolated, stats.fault_items), (1, 1, 1));
    sent(&mut net, "T");
    assert_eq!(told(&mut net), <[&str; 0]>::default(), "its time is not over");
    net.run(ms(10 * SECOND));
    assert_eq!(net.client.stats().brokers_isolated, 0);
    sent(&mut net, "T");
    assert_eq!(told(&mut net), ["a recovered"]);
}

#[test]
fn a_heartbeat_is_told_to_be_accepted_after_one_was_refused() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").others.insert(RequestCode::HEART_BEAT.0, DENY);
    net.run(ms(75 * SECOND));
    net.broker("a").others.clear();
    net.run(ms(75 * SECOND));
    let lines = told(&mut net);
    let refused = lines.iter().filter(|line| *line == "a:10911 refuses: SYSTEM_ERROR (1)").count();
    assert!((2..=3).contains(&refused), "{lines:?}");
    assert_eq!(lines[refused..], ["a:10911 accepts"]);
    let stats = net.client.stats();
    assert_eq!(stats.heartbeats_refused, refused as u64);
    assert!(stats.heartbeats >= stats.heartbeats_refused + 2, "{stats:?}");
    net.broker("a").others.insert(RequestCode::HEART_BEAT.0, Act::Silent);
    net.run(ms(40 * SECOND));
    assert_eq!(net.client.stats().heartbeats_unanswered, 1);
}

#[test]
fn lost_trace_records_are_told() {
    let producer = ProducerConfig::new("PG").trace(Trace::new().batch(NonZeroU32::MIN));
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.routes.insert(TRACE_TOPIC.into(), route(&[("b", 1)]));
    net.broker("b").accept = Some(Accept::Refuse);
    sent(&mut net, "T");
    net.run(ms(10 * SECOND));
    let lines = told(&mut net);
    assert_eq!(lines.last().map(String::as_str), Some("1 records lost of RMQ_SYS_TRACE_TOPIC"), "{lines:?}");
}

/// Whether a connection had been open is told with its end.
#[test]
fn an_end_says_whether_there_was_a_beginning() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").sends = [Act::Close].into();
    net.broker("a").accept = Some(Accept::Refuse);
    net.send("T", SendOptions::default());
    net.run(ms(150));
    let ends = net.events.iter().filter_map(|(_, event)| match event {
        Event::ConnectionClosed { opened, .. } => Some(*opened),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>()[..2], [true, false]);
    let stats = net.client.stats();
    assert_eq!(stats.connects, stats.connections_opened + stats.connect_failures);
}

/// Attempts that fail are counted by what they came to.
#[test]
fn attempts_are_counted_by_their_ends() {
    let producer = ProducerConfig::new("PG").attempts(NonZeroU32::new(4).unwrap());
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").sends = [DENY, Act::Silent, Act::Close].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(3 * SECOND));
    net.take_sent(op);
    let Stats { attempts_failed, attempts_refused, attempts_timed_out, attempts_unreached, retries, .. } =
        net.client.stats();
    assert_eq!((attempts_failed, attempts_refused, attempts_timed_out, attempts_unreached), (3, 1, 1, 1));
    assert_eq!(retries, 3);
}

#[test]
fn bytes_under_way_are_seen() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").always = Some(Act::Bytes(bytes::Bytes::from_static(&[0, 0, 0, 100, 0])));
    sent(&mut net, "T");
    assert_eq!(net.client.stats().unread_bytes, 5, "of a frame that is not whole");
    net.stalled = true;
    sent(&mut net, "T");
    assert!(net.client.stats().unwritten_bytes > 100);
    net.client.shutdown(net.now, ms(0));
    net.run(ms(0));
    let stats = net.client.stats();
    assert_eq!((stats.unread_bytes, stats.unwritten_bytes, stats.brokers), (0, 0, 0));
}

/// The list of metrics has each field, in order, with its value and a sentence.
#[test]
fn metrics_are_all_fields() {
    let mut net = Net::new();
    net.warm();
    let stats = net.client.stats();
    let text = format!("{stats:?}");
    let fields = text.trim_start_matches("Stats { ").trim_end_matches(" }");
    let listed: Vec<_> = stats.metrics().map(|metric| format!("{}: {}", metric.name, metric.value)).collect();
    assert_eq!(listed.join(", "), fields);
    for metric in stats.metrics() {
        assert!(metric.help.ends_with('.') && !metric.help.contains(['[', '`']), "{metric:?}");
        assert!(metric.help.starts_with(|first: char| first.is_ascii_lowercase()), "{metric:?}");
    }
    let kind = |name| stats.metrics().find(|metric| metric.name == name).map(|metric| metric.kind.as_str());
    assert_eq!((kind("sends"), kind("timers")), (Some("counter"), Some("gauge")));
    assert!(stats.metrics().any(|metric| metric.kind == MetricKind::Counter && metric.value > 0));
}
