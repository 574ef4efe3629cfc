//! Requests and replies: the model's rules, and two clients that go through all of it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::time::Duration;

use bytes::Bytes;
use rmq_core::{
    ClientConfig, Event, Identity, Instant, NoReplyErrorKind, OpId, ProducerConfig, ProducerId, Replied,
    SendErrorKind, SendOptions, Start,
};
use rmq_proto::body::HeartbeatData;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_proto::header::{PushReplyHeader, SendMessageHeader, SendResponseHeader, UnregisterHeader};
use rmq_proto::message::{Message, Reply};
use rmq_proto::properties::{
    self, CLUSTER, CORRELATION_ID, MSG_REGION, MSG_TYPE, PUSH_REPLY_TIME, REPLY_TO_CLIENT,
};
use rmq_sim::model::{Cluster, ClusterConfig, Fault, PeerConn, PeerOutput, Profile, TopicConfig};
use rmq_sim::net::{Network, NetworkConfig};
use rmq_sim::run::Process;
use support::{NOW, broker, config, encoded, ext_names, oneway, send_header, with_opaque};

const TOPIC: &str = "DefaultCluster_REPLY_TOPIC";
const PROPERTIES: &str =
    "MSG_TYPE\u{1}reply\u{2}CORRELATION_ID\u{1}id\u{2}REPLY_TO_CLIENT\u{1}me@1\u{2}UNIQ_KEY\u{1}AA\u{2}";

fn heartbeat(group: &str) -> RemotingCommand {
    let data = HeartbeatData {
        client_id: "me@1".into(),
        producers: vec![group.into()],
        consumers: Vec::new(),
        fingerprint: 0,
        without_sub: false,
    };
    RemotingCommand::request(RequestCode::HEART_BEAT).with_ext(&()).with_body(data.encode())
}

fn reply(text: &str, queue_id: i32) -> RemotingCommand {
    let mut header = send_header(TOPIC);
    (header.properties, header.queue_id) = (Some(text.to_owned().into()), queue_id);
    let request = RemotingCommand::request(RequestCode::SEND_REPLY_MESSAGE_V2);
    with_opaque(request.with_ext(&header).with_body("pong".into()), 11)
}

/// What each connection got, in order.
fn drain(cluster: &mut Cluster) -> Vec<(PeerConn, RemotingCommand)> {
    let mut all = Vec::new();
    while let Some(output) = cluster.poll_output() {
        let PeerOutput::Write { conn, mut data } = output else { panic!("{output:?}") };
        while let Some(frame) = FrameDecoder::new(MAX_FRAME_LEN).decode(&mut data).unwrap() {
            all.push((conn, RemotingCommand::decode(frame).unwrap()));
        }
    }
    all
}

fn say(cluster: &mut Cluster, conn: PeerConn, command: &RemotingCommand) -> Vec<(PeerConn, RemotingCommand)> {
    cluster.receive(NOW, conn, encoded(command, HeaderFormat::Json));
    drain(cluster)
}

/// A cluster, a requester that it knows as `me@1`, and a replier.
fn parties(profile: Profile) -> (Cluster, PeerConn, PeerConn) {
    let mut cluster = Cluster::new(config(profile));
    let (requester, replier) = (broker(&mut cluster, 0), broker(&mut cluster, 0));
    say(&mut cluster, requester, &heartbeat("requesters"));
    (cluster, requester, replier)
}

fn answer(push: &RemotingCommand, code: ResponseCode) -> RemotingCommand {
    RemotingCommand::response_to(push, code)
}

/// Code, remark and queue offset of the one answer.
fn outcome(answers: Vec<(PeerConn, RemotingCommand)>, replier: PeerConn) -> (i32, Option<String>, i64) {
    let [(conn, answer)] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((*conn, answer.opaque, answer.is_response()), (replier, 11, true));
    let header: SendResponseHeader<'_> = answer.header().unwrap();
    assert!(header.transaction_id.is_none() && header.message_id.len() == 32, "{header:?}");
    (answer.code, answer.remark.clone(), header.queue_offset)
}

/// wire §5.17 (seen on both): what is pushed, and that the replier waits for the client's answer.
#[test]
fn a_reply_is_stored_and_pushed_and_answered_when_the_client_has_it() {
    for profile in Profile::ALL {
        for by_long_names in [false, true] {
            let (mut cluster, requester, replier) = parties(profile);
            let request = if by_long_names { long(&reply(PROPERTIES, 0)) } else { reply(PROPERTIES, 0) };
            let out = say(&mut cluster, replier, &request);
            let [(conn, push)] = &out[..] else { panic!("{profile}: {out:?}") };
            assert_eq!(*conn, requester);
            let code = RequestCode(push.code);
            assert_eq!((code, push.flag), (RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT, 0), "{profile}");
            let header: PushReplyHeader<'_> = push.header().unwrap();
            let text = header.properties.clone().unwrap();
            let property = |name| properties::value(&text, name);
            assert_eq!((property(CORRELATION_ID), property(MSG_TYPE)), (Some("id"), Some("reply")));
            assert_eq!((property(REPLY_TO_CLIENT), property(CLUSTER)), (Some("me@1"), None));
            assert_eq!(property(PUSH_REPLY_TIME), Some(&*NOW.to_string()));
            let v5 = profile == Profile::V5_3;
            assert_eq!((property(MSG_REGION).is_some(), text.ends_with('\u{2}')), (v5, v5), "{profile}");
            let expected = PushReplyHeader {
                producer_group: "group".into(),
                topic: TOPIC.into(),
                default_topic: "TBW102".into(),
                default_topic_queue_nums: 4,
                queue_id: 0,
                sys_flag: 0,
                born_timestamp: 1_699_999_999_999,
                flag: 0,
                properties: header.properties.clone(),
                reconsume_times: Some(0),
                unit_mode: Some(false),
                born_host: header.born_host.clone(),
                store_host: "127.0.0.1:9877".into(),
                store_timestamp: NOW as i64,
            };
            assert_eq!(header, expected, "{profile}");
            assert_eq!((ext_names(push).len(), &*push.body), (14, &b"pong"[..]));
            let stored = cluster.stored().next().unwrap();
            assert_eq!((&*stored.topic, stored.property(CLUSTER)), (TOPIC, Some("DefaultCluster")));
            let answers = say(&mut cluster, requester, &answer(push, ResponseCode::SUCCESS));
            assert_eq!(outcome(answers, replier), (0, None, 0), "{profile}");
            assert_eq!(say(&mut cluster, requester, &answer(push, ResponseCode::SUCCESS)), [], "once");
        }
    }
}

/// The same reply as SEND_REPLY_MESSAGE (324).
fn long(request: &RemotingCommand) -> RemotingCommand {
    let header = send_header(TOPIC);
    let header = SendMessageHeader {
        producer_group: header.producer_group,
        topic: header.topic,
        default_topic: header.default_topic,
        default_topic_queue_nums: header.default_topic_queue_nums,
        queue_id: header.queue_id,
        sys_flag: header.sys_flag,
        born_timestamp: header.born_timestamp,
        flag: header.flag,
        properties: Some(PROPERTIES.into()),
        reconsume_times: header.reconsume_times,
        unit_mode: header.unit_mode,
        max_reconsume_times: header.max_reconsume_times,
        batch: header.batch,
        broker_name: header.broker_name,
    };
    let long = RemotingCommand::request(RequestCode::SEND_REPLY_MESSAGE).with_ext(&header);
    with_opaque(long.with_body(request.body.clone()), request.opaque)
}

/// Seen on both: whatever becomes of the push, the reply is stored, and the answer says where.
#[test]
fn what_cannot_be_pushed_is_refused_and_stored() {
    for profile in Profile::ALL {
        let (mut cluster, requester, replier) = parties(profile);
        let rows = [
            ("REPLY_TO_CLIENT", "X", "reply message properties[REPLY_TO_CLIENT] is null"),
            ("me@1", "nobody", "push reply message fail, channel of <nobody> not found."),
        ];
        for (offset, (from, to, remark)) in (0..).zip(rows) {
            let answers = say(&mut cluster, replier, &reply(&PROPERTIES.replace(from, to), 0));
            assert_eq!(outcome(answers, replier), (1, Some(remark.to_owned()), offset), "{profile}");
        }
        let out = say(&mut cluster, replier, &reply(PROPERTIES, 0));
        let answers = say(&mut cluster, requester, &answer(&out[0].1, ResponseCode::SYSTEM_ERROR));
        let remark = Some("push reply message to me@1fail.".to_owned());
        assert_eq!(outcome(answers, replier), (1, remark.clone(), 2), "{profile}");
        // The client goes away: its time has to pass all the same.
        assert_eq!(say(&mut cluster, replier, &reply(PROPERTIES, -1)).len(), 1);
        cluster.disconnect(requester);
        assert_eq!(cluster.next_delivery(), Some(NOW + 10_000));
        cluster.advance(NOW + 9_999);
        assert_eq!(drain(&mut cluster), []);
        cluster.advance(NOW + 10_000);
        assert_eq!(outcome(drain(&mut cluster), replier), (1, remark, 3), "{profile}");
        assert_eq!(cluster.next_delivery(), None);
        let refused = say(&mut cluster, replier, &reply(PROPERTIES, 7));
        let code = if profile == Profile::V5_3 { 29 } else { 1 };
        assert_eq!((refused[0].1.code, ext_names(&refused[0].1).len()), (code, 2), "nothing is pushed");
        assert_eq!(cluster.stored().count(), 4);
    }
}

#[test]
fn a_one_way_reply_is_pushed_and_not_answered() {
    let (mut cluster, requester, replier) = parties(Profile::V5_3);
    let out = say(&mut cluster, replier, &oneway(reply(PROPERTIES, 0)));
    assert_eq!(out.len(), 1);
    assert_eq!(say(&mut cluster, requester, &answer(&out[0].1, ResponseCode::SUCCESS)), []);
    // One after the other in one piece: each gets its own answer.
    let mut piece = encoded(&oneway(reply(PROPERTIES, 0)), HeaderFormat::Json).to_vec();
    piece.extend(encoded(&reply(&PROPERTIES.replace("me@1", "nobody"), 0), HeaderFormat::Json));
    piece.extend(encoded(&with_opaque(reply(PROPERTIES, 0), 12), HeaderFormat::Json));
    cluster.receive(NOW, replier, Bytes::from(piece));
    let out = drain(&mut cluster);
    let kinds: Vec<_> = out.iter().map(|(conn, command)| (*conn, command.code)).collect();
    assert_eq!(kinds, [(replier, 1), (requester, 326), (requester, 326)]);
    assert_eq!(say(&mut cluster, requester, &answer(&out[1].1, ResponseCode::SUCCESS)), []);
    let answers = say(&mut cluster, requester, &answer(&out[2].1, ResponseCode::SUCCESS));
    assert_eq!((answers[0].0, answers[0].1.opaque, answers[0].1.code), (replier, 12, 0));
}

/// Seen on both: replies go where the client named a group first last; any end of a connection or group loses them.
#[test]
fn the_newest_registration_counts() {
    for profile in Profile::ALL {
        let (mut cluster, old, replier) = parties(profile);
        let pushed_to = |cluster: &mut Cluster| {
            let out = say(cluster, replier, &reply(PROPERTIES, 0));
            let push = out.iter().find(|(_, command)| !command.is_response());
            push.map(|(conn, _)| *conn)
        };
        let new = broker(&mut cluster, 0);
        say(&mut cluster, new, &heartbeat("requesters"));
        say(&mut cluster, old, &heartbeat("requesters"));
        assert_eq!(pushed_to(&mut cluster), Some(new), "{profile}: a repeated heartbeat changes nothing");
        cluster.disconnect(new);
        assert_eq!(pushed_to(&mut cluster), None);
        say(&mut cluster, old, &heartbeat("requesters"));
        assert_eq!(pushed_to(&mut cluster), None, "{profile}");
        say(&mut cluster, old, &heartbeat("other"));
        assert_eq!(pushed_to(&mut cluster), Some(old), "{profile}");
        let unregister = UnregisterHeader {
            client_id: "me@1".into(),
            producer_group: Some("other".into()),
            consumer_group: None,
        };
        let unregister = RemotingCommand::request(RequestCode::UNREGISTER_CLIENT).with_ext(&unregister);
        say(&mut cluster, old, &unregister);
        assert_eq!(pushed_to(&mut cluster), None, "{profile}");
    }
}

/// A requester and a replier on a network, driven until nothing is left to do.
struct World {
    network: Network,
    processes: [Process; 2],
    producers: [ProducerId; 2],
}

const REQUESTER: usize = 0;
const REPLIER: usize = 1;

impl World {
    fn new(cluster: ClusterConfig) -> Self {
        let mut network = Network::new(NetworkConfig { cluster, ..NetworkConfig::default() }, 1);
        network.with_cluster(|cluster| cluster.create_topic(&TopicConfig::new("orders", 4)));
        let process = |number: u32| {
            let config =
                ClientConfig::builder().name_server(network.cluster().name_server()).build().unwrap();
            let identity = Identity { ip: [10, 0, 0, 1].into(), pid: number };
            let seed = u64::from(number) + 1;
            let start = Start { now: Instant::ZERO, unix_ms: network.unix_ms(), seed, identity };
            Process::new(number, config, start, 4_096)
        };
        let mut processes = [process(0), process(1)];
        let producers = ["requesters", "repliers"];
        let mut index = 0;
        let producers = producers.map(|group| {
            let added = processes[index].client().add_producer(Instant::ZERO, ProducerConfig::new(group));
            index += 1;
            added.unwrap()
        });
        Self { network, processes, producers }
    }

    fn run(&mut self, time: Duration) -> [Vec<Event>; 2] {
        let end = self.network.now() + time;
        let mut events = [Vec::new(), Vec::new()];
        loop {
            let now = self.network.now();
            while let Some((client, stream)) = self.network.poll_news() {
                self.processes[client as usize].wake(stream);
            }
            let mut next = Instant::from_micros(u64::MAX);
            for (process, events) in self.processes.iter_mut().zip(&mut events) {
                process.turn(&mut self.network, now);
                assert_eq!(process.take_violation(), None);
                events.extend(core::iter::from_fn(|| process.poll_event()));
                next = next.min(process.poll_timeout());
            }
            let next = self.network.poll_timeout().unwrap().min(next).max(now);
            if next > end {
                self.network.handle_timeout(end);
                return events;
            }
            self.network.handle_timeout(next);
        }
    }

    fn request(&mut self, timeout: Duration) -> OpId {
        let now = self.network.now();
        let client = self.processes[REQUESTER].client();
        let id = client.client_id().to_owned();
        let request = Message::new("orders", "ping").prepare_request(client.message_rules(), &id, timeout);
        client.send_request(now, self.producers[REQUESTER], request.unwrap()).unwrap()
    }

    /// Reads the newest request as a consumer would, and replies to it.
    fn reply(&mut self, body: &str) -> OpId {
        let request = self.network.cluster().stored().filter(|stored| &*stored.topic == "orders").last();
        let request = request.unwrap().record();
        let now = self.network.now();
        let client = self.processes[REPLIER].client();
        let reply = Reply::new(&request, body.to_owned()).unwrap().prepare(client.message_rules());
        client.send(now, self.producers[REPLIER], reply.unwrap(), SendOptions::default()).unwrap()
    }
}

fn replied(events: &[Event], op: OpId) -> Option<&Replied> {
    events.iter().find_map(|event| match event {
        Event::Replied { op: of, reply } if *of == op => Some(&**reply),
        _ => None,
    })
}

/// Whichever of three brokers has the request and whichever gets the reply: the first request is known to all.
#[test]
fn requests_are_replied_to() {
    for profile in Profile::ALL {
        let mut world = World::new(ClusterConfig { brokers: 3, ..config(profile) });
        for round in 0..12 {
            let op = world.request(Duration::from_secs(3));
            world.run(Duration::from_millis(20));
            let answered = world.reply(&format!("pong {round}"));
            let [events, of_replier] = world.run(Duration::from_millis(100));
            let reply = replied(&events, op).unwrap_or_else(|| panic!("{profile}, {round}: {events:?}"));
            assert_eq!(&*reply.message.body, format!("pong {round}").as_bytes());
            assert_eq!((&*reply.message.topic, reply.attempts), (TOPIC, 1));
            assert!(reply.sent.is_some() && reply.message.property(MSG_TYPE) == Some("reply"));
            let sent = of_replier.iter().find_map(|event| match event {
                Event::Sent { op, result } if *op == answered => Some(result),
                _ => None,
            });
            assert_eq!((sent.unwrap().attempts, &*sent.unwrap().queue.topic), (1, TOPIC));
        }
        let stats = world.processes[REQUESTER].client().stats();
        assert_eq!((stats.requests_succeeded, stats.requests_waiting, stats.operations), (12, 0, 0));
        assert_eq!(stats.unknown_replies, 0);
    }
}

#[test]
fn a_late_reply_is_nobodys_and_still_taken() {
    let mut world = World::new(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
    let op = world.request(Duration::from_secs(1));
    let [events, _] = world.run(Duration::from_secs(2));
    let Some(Event::RequestFailed { op: of, error }) = events.last() else { panic!("{events:?}") };
    assert_eq!((*of, error.kind()), (op, NoReplyErrorKind::TimedOut));
    assert!(error.request().is_ok(), "{error}");
    let late = world.reply("late");
    let [_, events] = world.run(Duration::from_secs(1));
    assert!(events.iter().any(|event| matches!(event, Event::Sent { op, .. } if *op == late)), "{events:?}");
    assert_eq!(world.processes[REQUESTER].client().stats().unknown_replies, 1);
}

/// producer §10.1: a broker that cannot push says SYSTEM_ERROR, and the replier tries another.
#[test]
fn a_reply_tries_the_broker_that_knows_the_client() {
    let mut world = World::new(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
    let op = world.request(Duration::from_secs(60));
    world.run(Duration::from_secs(1));
    let address = world.network.cluster().broker_address(0).to_owned();
    // The connections to one of them end, and it lets nobody in: the client is unknown there.
    world.network.with_cluster(|cluster| {
        cluster.close_connections(&address);
        assert!(cluster.fault(&address, Fault::Refuse));
    });
    world.run(Duration::from_secs(1));
    world.network.with_cluster(|cluster| cluster.heal(&address));
    let answers: Vec<_> = (0..2).map(|_| world.reply("pong")).collect();
    let [events, of_replier] = world.run(Duration::from_millis(500));
    assert!(replied(&events, op).is_some(), "{events:?}");
    let attempts: Vec<_> = of_replier
        .iter()
        .filter_map(|event| match event {
            Event::Sent { op, result } if answers.contains(op) => Some(result.attempts),
            _ => None,
        })
        .collect();
    assert_eq!((attempts.len(), attempts.iter().max()), (2, Some(&2)), "{of_replier:?}");
}

#[test]
fn a_request_that_nobody_takes_fails_at_once() {
    let mut world = World::new(ClusterConfig::default());
    world.request(Duration::from_secs(3));
    world.run(Duration::from_secs(4));
    let address = world.network.cluster().broker_address(0).to_owned();
    let fault = Fault::AnswerSends { count: 1, code: ResponseCode::SYSTEM_BUSY, remark: Some("full".into()) };
    assert!(world.network.with_cluster(|cluster| cluster.fault(&address, fault)));
    let op = world.request(Duration::from_secs(3));
    let [events, _] = world.run(Duration::from_millis(100));
    let Some(Event::RequestFailed { op: of, error }) = events.last() else { panic!("{events:?}") };
    assert_eq!((*of, error.kind()), (op, NoReplyErrorKind::SendFailed));
    assert_eq!(*error.request().unwrap_err().kind(), SendErrorKind::Refused);
}
