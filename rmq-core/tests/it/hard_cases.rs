//! Found by looking for trouble: callers with little time beside others with plenty, routes that change under a send,
//! drivers and configurations at the edge of what is legal.

use std::num::NonZeroU32;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::frame::FrameDecoder;
use rmq_core::proto::message::Message;
use rmq_core::{
    Client, CloseCause, CloseOnTimeout, Event, Input, Instant, Limits, Output, ProducerConfig, RetryPolicy,
    SendErrorKind, SendOptions, SendStatus, Start,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, after, at, config, ms, route, start};

const ROUTE: i32 = RequestCode::GET_ROUTEINFO_BY_TOPIC.0;
const BEAT: i32 = RequestCode::HEART_BEAT.0;

fn within(millis: u64) -> SendOptions {
    SendOptions::default().timeout(ms(millis))
}

fn limited(limits: Limits) -> Net {
    Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"))
}

/// A network whose routes are looked at each second.
fn fresh() -> Net {
    Net::with(config().route_refresh_interval(ms(1_000)).build().unwrap(), ProducerConfig::new("PG"))
}

#[test]
fn a_caller_with_little_time_does_not_end_the_question_of_others() {
    for cancelled in [false, true] {
        let mut net = Net::new();
        net.ns_latency = 50;
        let long = net.send("T", SendOptions::default());
        let short = net.send("T", within(10));
        if cancelled {
            net.client.cancel(net.now, short);
        }
        net.run(ms(1_000));
        net.take_sent(long);
    }
}

/// Nobody waits for the answer any more, but it is not late: it must not take the connection away from others.
#[test]
fn a_question_taken_back_does_not_count_as_a_timeout() {
    for rule in [CloseOnTimeout::Java, CloseOnTimeout::Silent] {
        let mut net = Net::with(config().close_on_timeout(rule).build().unwrap(), ProducerConfig::new("PG"));
        net.routes.insert("U".into(), route(&[("a", 1)]));
        net.routes.insert("V".into(), route(&[("a", 1)]));
        net.ns_latency = 1_000;
        let others = net.send("T", SendOptions::default());
        let cancelled = ["U", "V"].map(|topic| net.send(topic, SendOptions::default()));
        net.run(ms(600));
        cancelled.into_iter().for_each(|op| net.client.cancel(net.now, op));
        net.run(ms(2_000));
        assert_eq!(net.take_sent(others).1.attempts, 1, "{rule:?}");
        assert!(net.closes.is_empty(), "{rule:?}: {:?}", net.closes);
        let stats = net.client.stats();
        assert_eq!((stats.unknown_answers, stats.awaited), (2, 0), "{rule:?}");
    }
}

#[test]
fn a_caller_with_more_time_lengthens_the_question() {
    let mut net = Net::new();
    net.ns_latency = 50;
    let short = net.send("T", within(10));
    let long = net.send("T", SendOptions::default());
    net.run(ms(1_000));
    net.take_error(short);
    net.take_sent(long);
}

#[test]
fn name_servers_share_the_callers_time() {
    let servers = ["ns:9876", "ns2:9876", "ns3:9876"];
    for healthy in servers {
        let config = config().name_server("ns2:9876;ns3:9876").build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("PG"));
        for server in servers.into_iter().filter(|server| *server != healthy) {
            net.peer(server).others.insert(ROUTE, Act::Silent);
        }
        let op = net.send("T", within(300));
        net.run(ms(1_000));
        net.take_sent(op);
    }
}

#[test]
fn shutdown_lets_sends_find_their_route() {
    for topic in ["T", "New"] {
        let mut net = Net::new();
        net.routes.insert("TBW102".into(), route(&[("a", 4)]));
        net.ns_latency = 5;
        let op = net.send(topic, SendOptions::default());
        net.run(ms(1));
        net.client.shutdown(net.now, ms(3_000));
        net.run(ms(4_000));
        net.take_sent(op);
        assert!(net.client.stats().route_queries <= 2);
    }
}

#[test]
fn a_refresh_answered_during_shutdown_breaks_nothing() {
    let mut net = fresh();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.ns_latency = 300;
    net.run(ms(1_101));
    assert!(!net.requests(RequestCode::GET_ROUTEINFO_BY_TOPIC).is_empty());
    net.forget();
    net.broker("a").always = Some(after(600, Act::Stored(ResponseCode::SUCCESS)));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.client.shutdown(net.now, ms(3_000));
    net.run(ms(4_000));
    assert_eq!((net.sends().len(), net.take_sent(op).1.attempts), (1, 1));
}

/// Commands fire no timer, not even that of a heartbeat.
#[test]
fn adding_a_producer_fires_no_timer() {
    let config = config().close_on_timeout(CloseOnTimeout::Java).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG").attempts(NonZeroU32::MIN));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.broker("a").others.insert(BEAT, Act::Silent);
    net.broker("a").always = Some(Act::Silent);
    net.send("T", within(20_000));
    net.run(ms(2_500));
    net.now = net.now + ms(600);
    net.client.add_producer(net.now, ProducerConfig::new("PG2")).unwrap();
    net.drain();
    assert!(net.closes.is_empty(), "{:?}", net.closes);
}

#[test]
fn more_written_than_handed_out_is_counted_as_a_misuse_only() {
    let mut net = Net::new();
    net.warm();
    let before = net.client.stats();
    let conn = net.conn(&address_of("a")).unwrap();
    for bytes in [usize::MAX, usize::MAX, 1_000_000] {
        net.client.handle_input(net.now, Input::Written { conn, bytes });
    }
    let stats = net.client.stats();
    assert_eq!((stats.misuses - before.misuses, stats.bytes_written), (3, before.bytes_written));
}

#[test]
fn nothing_written_is_no_progress() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.stalled = true;
    net.send("T", within(60_000));
    net.run(ms(0));
    let conn = net.conn(&address_of("a")).unwrap();
    for _ in 0..10 {
        net.run(ms(1_000));
        net.client.handle_input(net.now, Input::Written { conn, bytes: 0 });
    }
    let stalled =
        |event: &Event| matches!(event, Event::ConnectionClosed { cause: CloseCause::WriteStall { .. }, .. });
    assert!(net.events.iter().any(|(_, event)| stalled(event)));
}

#[test]
fn intervals_without_end_never_come() {
    for interval in [Duration::MAX, Duration::from_micros(u64::MAX) + Duration::from_micros(11)] {
        let config = config().heartbeat_interval(interval).route_refresh_interval(interval).build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("PG"));
        net.warm();
        net.run(ms(200));
        assert_eq!(net.requests(RequestCode::HEART_BEAT).len(), 0, "beyond the one at opening");
    }
}

#[test]
fn time_may_come_to_its_end() {
    let mut net = Net::new();
    net.now = Instant::from_micros(u64::MAX - 10_000_000);
    net.client = Client::new(config().build().unwrap(), Start { now: net.now, ..start() });
    net.producer = net.client.add_producer(net.now, ProducerConfig::new("PG")).unwrap();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
    }
    net.send("T", SendOptions::default());
    net.drain();
    net.client.handle_timeout(Instant::from_micros(u64::MAX));
    assert_eq!(net.client.poll_timeout(), None);
}

#[test]
fn a_question_goes_when_nobody_waits_for_it() {
    let mut net = limited(Limits { topics: 3, operations: 2, ..Limits::default() });
    net.peer(NAME_SERVER).accept = Some(Accept::Never);
    for i in 0..100 {
        let op = net.send(&format!("T{i}"), SendOptions::default());
        net.client.cancel(net.now, op);
        net.drain();
    }
    let stats = net.client.stats();
    assert!(stats.topics <= 3 && stats.queued <= 3, "{stats:?}");
}

#[test]
fn room_for_one_topic_is_room_enough_for_two_sends() {
    let mut net = limited(Limits { topics: 1, ..Limits::default() });
    net.routes.clear();
    net.routes.insert("TBW102".into(), route(&[("a", 8)]));
    net.ns_latency = 1;
    let ops = ["N1", "N2"].map(|topic| net.send(topic, SendOptions::default()));
    net.run(ms(4_000));
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    assert!(net.client.stats().route_queries < 20);
}

#[test]
fn a_cancelled_request_is_let_go_at_its_deadline() {
    let config = config().idle_timeout(ms(5_000)).heartbeat_interval(ms(1_000_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").always = Some(Act::Silent);
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.client.cancel(net.now, op);
    net.run(ms(3_000));
    assert_eq!(net.client.stats().awaited, 0);
    net.run(ms(20_000));
    assert!(net.closes.iter().any(|(_, address)| *address == address_of("a")), "and its connection may idle");
}

/// A stored message is told as stored, whatever cuts its next attempt off.
#[test]
fn stored_is_stored_even_at_shutdown() {
    let producer = ProducerConfig::new("PG").retry(RetryPolicy::default().when_not_stored_ok(true));
    let mut net = Net::with(config().build().unwrap(), producer);
    net.warm();
    let first = net.next_broker("T");
    let second = if first == "a" { "b" } else { "a" };
    net.broker(&first).always = Some(Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT));
    net.broker(second).always = Some(Act::Silent);
    let op = net.send("T", SendOptions::default());
    net.run(ms(10));
    net.client.shutdown(net.now, ms(0));
    net.turn();
    assert_eq!(net.take_sent(op).1.status, SendStatus::FlushDiskTimeout);
}

#[test]
fn a_result_says_how_many_attempts_were_made() {
    let producer = ProducerConfig::new("PG").retry(RetryPolicy::default().when_not_stored_ok(true));
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    let busy = Act::Code(ResponseCode::SYSTEM_BUSY, "");
    net.broker("a").sends = [Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT), busy.clone(), busy].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(200));
    assert_eq!(net.take_sent(op).1.attempts, 3);
}

/// The topic becomes read-only while an attempt is under way; later somebody may write again.
#[test]
fn a_send_keeps_its_time_when_its_route_goes() {
    let mut net = fresh();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    let mut readonly = route(&[("a", 1)]);
    readonly.queue_datas[0].perm = 4;
    net.routes.insert("T".into(), readonly.clone());
    net.run(ms(800));
    net.broker("a").sends = [after(600, Act::Code(ResponseCode::SYSTEM_BUSY, ""))].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(400));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.ns_latency = 700;
    net.run(ms(5_000));
    net.take_sent(op);

    let config = config().name_server("ns2:9876").route_refresh_interval(ms(1_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.routes.insert("T".into(), readonly);
    net.run(ms(800));
    net.broker("a").always = Some(Act::Silent);
    let (began, op) = (net.now, net.send("T", within(3_000)));
    net.run(ms(400));
    for server in ["ns:9876", "ns2:9876"] {
        net.peer(server).others.insert(ROUTE, Act::Silent);
    }
    net.run(ms(10_000));
    assert_eq!(net.take_error(op).0, began + ms(3_000));
}

#[test]
fn a_broker_at_a_name_servers_address_is_left_alone_once_it_left() {
    let mut net = fresh();
    let mut data = route(&[("a", 1)]);
    data.broker_datas[0].addresses = [(0, NAME_SERVER.into())].into();
    net.routes.insert("T".into(), data);
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    net.routes.insert("T".into(), route(&[("b", 1)]));
    net.run(ms(5_000));
    net.forget();
    net.run(ms(120_000));
    assert!(net.requests(RequestCode::HEART_BEAT).iter().all(|seen| seen.address != NAME_SERVER));
}

/// Two brokers at one address, as behind a proxy (wire §10, row 31): one connection, one heartbeat for both.
#[test]
fn brokers_at_one_address_share_a_connection() {
    let mut net = fresh();
    let mut data = route(&[("a", 1), ("b", 1)]);
    data.broker_datas[1].addresses = [(0, address_of("a"))].into();
    net.routes.insert("T".into(), data);
    let ops: Vec<_> = (0..4).map(|_| net.send("T", SendOptions::default())).collect();
    net.run(ms(2_000));
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    assert_eq!(net.connects.iter().filter(|(_, address)| *address == address_of("a")).count(), 1);
    assert_eq!(net.requests(RequestCode::HEART_BEAT).len(), 1);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.run(ms(3_000));
    assert!(net.closes.is_empty(), "one of them is still there: {:?}", net.closes);
}

#[test]
fn what_is_in_flight_survives_its_topics_eviction() {
    let mut net = limited(Limits { topics: 1, ..Limits::default() });
    net.routes.insert("A".into(), route(&[("a", 1)]));
    net.routes.insert("B".into(), route(&[("b", 1)]));
    net.broker("a").always = Some(after(100, Act::Stored(ResponseCode::SUCCESS)));
    let op = net.send("A", SendOptions::default());
    net.run(ms(10));
    net.send("B", SendOptions::default());
    net.run(ms(2_000));
    assert_eq!(net.take_sent(op).1.attempts, 1);
}

#[test]
fn what_is_in_flight_survives_its_broker_leaving_the_route() {
    let mut net = fresh();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(after(800, Act::Stored(ResponseCode::SUCCESS)));
    }
    net.run(ms(700));
    let ops: Vec<_> = (0..4).map(|_| net.send("T", SendOptions::default())).collect();
    net.run(ms(0));
    net.routes.insert("T".into(), route(&[("b", 1)]));
    net.run(ms(3_000));
    ops.into_iter().for_each(|op| assert_eq!(net.take_sent(op).1.attempts, 1));
}

#[test]
fn a_master_heard_of_when_there_was_no_room_is_told_later() {
    let limits = Limits { links: 2, ..Limits::default() };
    let config =
        config().limits(limits).route_refresh_interval(ms(1_000)).idle_timeout(ms(5_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("A".into(), route(&[("a", 1)]));
    net.routes.insert("B".into(), route(&[("b", 1)]));
    let op = net.send("A", SendOptions::default());
    net.run(ms(10));
    net.take_sent(op);
    net.send("B", SendOptions::default());
    net.run(ms(10));
    net.routes.insert("A".into(), route(&[]));
    net.run(ms(12_000));
    net.forget();
    let op = net.send("B", SendOptions::default());
    net.run(ms(1_000));
    net.take_sent(op);
    assert!(!net.requests(RequestCode::HEART_BEAT).is_empty());
}

#[test]
fn brokers_do_not_keep_a_name_server_out() {
    let limits = Limits { links: 3, ..Limits::default() };
    let config = config().limits(limits).name_server("ns2:9876").build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1), ("b", 1), ("c", 1)]));
    net.warm();
    let used = if net.conn(NAME_SERVER).is_some() { NAME_SERVER } else { "ns2:9876" };
    net.peer(used).accept = Some(Accept::Refuse);
    let conn = net.conn(used).unwrap();
    net.later(0, Input::Closed { conn, reason: rmq_core::CloseReason::PeerClosed });
    net.run(ms(500));
    net.routes.insert("U".into(), route(&[("a", 1)]));
    let op = net.send("U", SendOptions::default());
    net.run(ms(3_100));
    net.take_sent(op);
}

/// One server denies the topic, the other cannot be asked: that is not to say that there is no such topic.
#[test]
fn a_topic_is_not_found_only_if_all_servers_say_so() {
    let config = config().name_server("ns2:9876").build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.clear();
    net.peer("ns2:9876").accept = Some(Accept::Refuse);
    let op = net.send("T", SendOptions::default());
    net.run(ms(4_000));
    let error = net.take_error(op).1;
    assert!(
        matches!(error.kind(), SendErrorKind::RouteUnavailable { .. }) && error.is_retryable(),
        "{error}"
    );
}

#[test]
fn waits_too_short_to_tell_anything_close_no_connection() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").always = Some(after(50, Act::Stored(ResponseCode::SUCCESS)));
    let neighbour = net.send("T", SendOptions::default());
    net.send("T", within(10));
    net.send("T", within(10));
    net.run(ms(1_000));
    assert_eq!(net.take_sent(neighbour).1.attempts, 1);
}

/// The last route of a forgotten topic had no master for the broker; the other topic's has.
#[test]
fn an_address_does_not_outlive_the_route_that_gave_it() {
    let config = config().route_refresh_interval(ms(5_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("T1".into(), route(&[("a", 1)]));
    net.routes.insert("T2".into(), route(&[("a", 1)]));
    net.send("T1", SendOptions::default());
    net.run(ms(590_000));
    net.send("T2", SendOptions::default());
    net.run(ms(100));
    let mut slaves = route(&[("a", 1)]);
    slaves.broker_datas[0].addresses = [(1, "slave:1".into())].into();
    net.routes.insert("T1".into(), slaves);
    net.run(ms(60_000));
    assert_eq!(net.client.stats().topics, 1);
    let op = net.send("T2", SendOptions::default());
    net.run(ms(100));
    net.take_sent(op);
}

#[test]
fn a_broker_named_twice_in_a_route_leaves_with_it() {
    let mut net = fresh();
    let mut data = route(&[("a", 1)]);
    let mut twin = data.broker_datas[0].clone();
    twin.addresses = [(0, "a2:1".into())].into();
    data.broker_datas.push(twin);
    for _ in 0..2 {
        net.routes.insert("T".into(), data.clone());
        let op = net.send("T", SendOptions::default());
        net.run(ms(3_000));
        net.take_sent(op);
        net.routes.insert("T".into(), route(&[("b", 1)]));
        net.run(ms(130_000));
    }
    assert_eq!(net.client.stats().links, 2, "a name server and b");
}

/// Frames share a write only if they fit it, whatever is in them.
#[test]
fn a_write_is_one_frame_or_within_its_limit() {
    let name = "\u{1}".repeat(400);
    let limits = Limits { write_batch: 2_000, ..Limits::default() };
    let mut net = limited(limits);
    let mut data = route(&[(&name, 1)]);
    data.broker_datas[0].addresses = [(0, address_of("a"))].into();
    net.routes.insert("T".into(), data);
    net.warm();
    let conn = net.conn(&address_of("a")).unwrap();
    let mut request = BytesMut::new();
    RemotingCommand::request(307).encode(HeaderFormat::Json, &mut request).unwrap();
    net.client.handle_input(net.now, Input::Received { conn, data: request.freeze() });
    for i in 0..40 {
        net.client.add_producer(net.now, ProducerConfig::new(format!("{i:0>100}"))).unwrap();
        net.send("T", SendOptions::default());
    }
    let mut writes = 0;
    while let Some(output) = net.client.poll_output() {
        let Output::Write { conn, data } = output else { continue };
        writes += 1;
        let mut bytes = Bytes::from(data.segments().concat());
        let mut decoder = FrameDecoder::default();
        let frames = std::iter::from_fn(|| decoder.decode(&mut bytes).unwrap()).count();
        assert!(data.len() <= 2_000 || frames == 1, "{} bytes in {frames} frames", data.len());
        net.client.handle_input(net.now, Input::Written { conn, bytes: data.len() });
    }
    assert!(writes > 40);
}

#[test]
fn bytes_held_stay_within_their_limit() {
    let mut net = limited(Limits { operation_bytes: 500, ..Limits::default() });
    let message = Message::new("T", "Hello").prepare(net.client.message_rules()).unwrap();
    while net.client.send(net.now, net.producer, message.clone(), SendOptions::default()).is_ok() {}
    assert!(net.client.stats().operation_bytes <= 500);
}

#[test]
fn a_busy_brokers_refusal_is_worth_another_try() {
    let producer = ProducerConfig::new("PG").retry(RetryPolicy::local_failures_only());
    let mut net = Net::with(config().build().unwrap(), producer);
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Code(ResponseCode::SYSTEM_BUSY, "busy"));
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(100));
    assert!(net.take_error(op).1.is_retryable());
}

#[test]
fn a_oneway_send_cut_off_does_not_speak_of_answers() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.stalled = true;
    let op = net.send("T", within(1_000).oneway());
    net.run(ms(2_000));
    let (when, error) = net.take_error(op);
    assert!(!error.to_string().contains("no answer") && error.may_have_been_stored(), "{error}");
    assert_eq!(when, at(1_000));
}

#[test]
fn every_broker_hears_of_a_second_group() {
    let mut net = Net::new();
    net.broker("a").accept = Some(Accept::OpenAfter(500));
    (0..3).for_each(|_| {
        net.send("T", SendOptions::default());
    });
    net.run(ms(100));
    net.client.add_producer(net.now, ProducerConfig::new("G2")).unwrap();
    net.run(ms(1_500));
    for name in ["a", "b"] {
        let hears = net.requests(RequestCode::HEART_BEAT).iter().any(|seen| {
            seen.address == address_of(name) && String::from_utf8_lossy(&seen.command.body).contains("G2")
        });
        assert!(hears, "{name}");
    }
}

/// A heartbeat under way to a broker that then leaves is nobody's any more: the connection may idle.
#[test]
fn a_heartbeat_under_way_does_not_keep_a_broker_that_left() {
    let mut net = fresh();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.broker("a").others.insert(BEAT, Act::Silent);
    let op = net.send("T", SendOptions::default());
    net.run(ms(10));
    net.take_sent(op);
    net.routes.insert("T".into(), route(&[("b", 1)]));
    net.run(ms(130_000));
    assert_eq!(net.closes.iter().filter(|(_, address)| *address == address_of("a")).count(), 1);
    assert_eq!(net.client.stats().awaited, 0);
}

/// The deadline of a cancelled request is a timer as any other: it never lies in the past after a turn.
#[test]
fn a_cancelled_requests_deadline_does_not_make_a_driver_spin() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.run(ms(20_000));
    net.broker("a").always = Some(Act::Silent);
    let op = net.send("T", within(50));
    net.run(ms(0));
    net.client.cancel(net.now, op);
    net.run(ms(60));
    assert_eq!(net.client.stats().awaited, 0);
    net.broker("a").always = None;
    let op = net.send("T", SendOptions::default());
    net.run(ms(10));
    net.take_sent(op);
}
