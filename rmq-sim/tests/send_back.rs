//! Messages that are given back: the model's rules, and a client that goes through all of it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::time::Duration;

use rmq_core::{
    ClientConfig, Event, Identity, Instant, ProducerConfig, ProducerId, Redelivery, SendBack,
    SendBackErrorKind, SendBackOptions, SendOptions, SentBack, Start,
};
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::SendBackHeader;
use rmq_proto::message::{Message, StoredMessage as Record};
use rmq_proto::properties::{
    DELAY, ORIGIN_MESSAGE_ID, REAL_QID, REAL_TOPIC, RETRY_TOPIC, TRAN_MSG, UNIQ_KEY, WAIT,
};
use rmq_sim::model::{
    Cluster, ClusterConfig, Fault, GroupConfig, PeerConn, Profile, StoredMessage, TopicConfig,
};
use rmq_sim::net::{Network, NetworkConfig};
use rmq_sim::run::Process;
use support::{NOW, ask, broker, config, send_header, send_request, with_opaque};

const WAITING: &str = "SCHEDULE_TOPIC_XXXX";

fn header(offset: i64) -> SendBackHeader<'static> {
    SendBackHeader {
        commit_log_offset: offset,
        group: "g".into(),
        delay_level: 0,
        origin_message_id: Some("AA".into()),
        origin_topic: Some("Known".into()),
        unit_mode: Some(false),
        max_reconsume_times: Some(16),
        broker_name: Some("broker-a".into()),
    }
}

fn request(header: &SendBackHeader<'_>) -> RemotingCommand {
    with_opaque(RemotingCommand::request(RequestCode::CONSUMER_SEND_MSG_BACK).with_ext(header), 12)
}

/// A cluster with one message, at offset 0 of the commit log.
fn cluster_of(config: ClusterConfig) -> (Cluster, PeerConn) {
    let mut cluster = Cluster::new(config);
    cluster.create_topic(&TopicConfig::new("Known", 4));
    let conn = broker(&mut cluster, 0);
    assert_eq!(ask(&mut cluster, conn, &send_request(&send_header("Known"), "x")).only().code, 0);
    (cluster, conn)
}

fn back(cluster: &mut Cluster, conn: PeerConn, header: &SendBackHeader<'_>) -> ResponseCode {
    ResponseCode(ask(cluster, conn, &request(header)).only().code)
}

fn last(cluster: &Cluster) -> &StoredMessage {
    cluster.brokers()[0].store().iter().next_back().unwrap()
}

/// wire §5.5 (seen on both): what the copy is like, before its time and after it.
#[test]
fn a_message_waits_for_its_delay_and_comes_back() {
    for profile in Profile::ALL {
        let (mut cluster, conn) = cluster_of(config(profile));
        let answer = ask(&mut cluster, conn, &request(&header(0))).only();
        assert_eq!((answer.code, answer.ext.iter().count(), answer.body.len()), (0, 0, 0), "{profile}");
        let waiting = last(&cluster).clone();
        assert!(waiting.is_waiting());
        assert_eq!((&*waiting.topic, waiting.queue_id), (WAITING, 2), "{profile}: level 3");
        assert_eq!(cluster.next_delivery(), Some(NOW + 10_000));
        cluster.advance(NOW + 9_999);
        assert_eq!(last(&cluster), &waiting, "{profile}");
        cluster.advance(NOW + 10_000);
        assert_eq!(cluster.next_delivery(), None);
        let first = cluster.stored().next().unwrap().clone();
        let again = last(&cluster);
        assert_eq!((&*again.topic, again.queue_id, again.reconsume_times), ("%RETRY%g", 0, 1), "{profile}");
        assert_eq!((&again.body, again.born_timestamp), (&first.body, first.born_timestamp));
        assert_eq!(again.store_timestamp, NOW as i64 + 10_000);
        let id = first.offset_id().to_string();
        for (name, value) in [
            (UNIQ_KEY, "AA"),
            (RETRY_TOPIC, "Known"),
            (ORIGIN_MESSAGE_ID, id.as_str()),
            (DELAY, "3"),
            (REAL_TOPIC, "%RETRY%g"),
            (REAL_QID, "0"),
            (WAIT, "false"),
        ] {
            assert_eq!(again.property(name), Some(value), "{profile}: {name}");
        }
        let topic = cluster.brokers()[0].topic("%RETRY%g").unwrap();
        assert_eq!((topic.read_queue_nums, topic.write_queue_nums, topic.perm), (1, 1, 6), "{profile}");
    }
}

/// producer §12.4: what is given back a second time keeps its topic and its id, and waits longer.
#[test]
fn what_comes_again_keeps_its_beginnings() {
    let (mut cluster, conn) = cluster_of(config(Profile::V5_3));
    back(&mut cluster, conn, &header(0));
    cluster.advance(NOW + 10_000);
    let offset = last(&cluster).commit_log_offset;
    let origin = last(&cluster).property(ORIGIN_MESSAGE_ID).unwrap().to_owned();
    assert_eq!(back(&mut cluster, conn, &header(offset)), ResponseCode::SUCCESS);
    let waiting = last(&cluster);
    assert_eq!((waiting.queue_id, waiting.reconsume_times), (3, 2), "level 4");
    assert_eq!(waiting.property(RETRY_TOPIC), Some("Known"));
    assert_eq!(waiting.property(ORIGIN_MESSAGE_ID), Some(&*origin));
}

/// producer §12.4, row by row: level, limit, version; where it is stored, and in which queue.
#[test]
fn levels_and_limits_decide() {
    let old = |mut request: RemotingCommand| {
        request.version = 120;
        request
    };
    for profile in Profile::ALL {
        for (level, most, is_old, expected) in [
            (0, Some(16), false, (WAITING, 2)),
            (1, Some(16), false, (WAITING, 0)),
            (18, Some(16), false, (WAITING, 17)),
            (99, Some(16), false, (WAITING, 17)),
            (-1, Some(16), false, ("%DLQ%g", 0)),
            (0, Some(0), false, ("%DLQ%g", 0)),
            (5, Some(0), false, ("%DLQ%g", 0)),
            (0, None, false, (WAITING, 2)),
            (0, Some(0), true, (WAITING, 2)),
        ] {
            let (mut cluster, conn) = cluster_of(config(profile));
            let header = SendBackHeader { delay_level: level, max_reconsume_times: most, ..header(0) };
            let request = if is_old { old(request(&header)) } else { request(&header) };
            assert_eq!(ask(&mut cluster, conn, &request).only().code, 0);
            let stored = last(&cluster);
            assert_eq!((&*stored.topic, stored.queue_id), expected, "{profile}: {header:?}");
            assert_eq!(stored.reconsume_times, 1);
            if expected.0 == "%DLQ%g" {
                assert_eq!((stored.property(DELAY), cluster.next_delivery()), (Some("0"), None));
                assert_eq!(cluster.brokers()[0].topic("%DLQ%g").unwrap().write_queue_nums, 1);
            }
        }
    }
}

/// producer §12.4.
#[test]
fn refusals_have_their_codes() {
    let unknown = ClusterConfig { auto_create_groups: false, ..config(Profile::V5_3) };
    let (mut cluster, conn) = cluster_of(unknown);
    assert_eq!(back(&mut cluster, conn, &header(0)), ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST);
    let retry = send_request(&send_header("%RETRY%g"), "x");
    let answer = ask(&mut cluster, conn, &retry).only();
    assert_eq!(ResponseCode(answer.code), ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST);
    cluster.create_group(&GroupConfig { retry_queue_nums: 0, ..GroupConfig::new("g") });
    assert_eq!(back(&mut cluster, conn, &header(0)), ResponseCode::SUCCESS);
    assert_eq!(cluster.stored().count(), 1, "thrown away");
    cluster.create_group(&GroupConfig { retry_max_times: 0, ..GroupConfig::new("g") });
    assert_eq!(back(&mut cluster, conn, &header(7)), ResponseCode::SYSTEM_ERROR, "no message begins there");
    let by_group = SendBackHeader { max_reconsume_times: None, ..header(0) };
    assert_eq!(back(&mut cluster, conn, &by_group), ResponseCode::SUCCESS);
    assert_eq!(&*last(&cluster).topic, "%DLQ%g", "the group's own limit");
    cluster.create_topic(&TopicConfig { perm: 4, ..TopicConfig::new("%RETRY%g", 1) });
    assert_eq!(back(&mut cluster, conn, &header(0)), ResponseCode::NO_PERMISSION);
}

/// producer §12.4: the limit counts otherwise in sends, whose number is that of the next time.
#[test]
fn sends_to_retry_topics_obey_the_limit() {
    for profile in Profile::ALL {
        for (times, most, expected) in
            [(16, Some(16), "%RETRY%g"), (17, Some(16), "%DLQ%g"), (17, None, "%DLQ%g")]
        {
            let (mut cluster, conn) = cluster_of(config(profile));
            let mut header = send_header("%RETRY%g");
            (header.reconsume_times, header.max_reconsume_times) = (Some(times), most);
            assert_eq!(ask(&mut cluster, conn, &send_request(&header, "x")).only().code, 0);
            let stored = last(&cluster);
            assert_eq!((&*stored.topic, stored.reconsume_times), (expected, times), "{profile}");
        }
    }
}

/// wire §6.4: any message with a level waits; 4.9.7 keeps `WAIT` of those (wire §5.1). One that a broker missed while it was
/// down goes when it is back.
#[test]
fn sends_with_a_level_wait_too() {
    for profile in Profile::ALL {
        let (mut cluster, conn) = cluster_of(config(profile));
        let mut header = send_header("Known");
        header.queue_id = 3;
        header.properties = Some("DELAY\u{1}2\u{2}UNIQ_KEY\u{1}BB\u{2}WAIT\u{1}true\u{2}".into());
        assert_eq!(ask(&mut cluster, conn, &send_request(&header, "x")).only().code, 0);
        assert_eq!(last(&cluster).property(WAIT), Some("true"), "{profile}");
        let address = cluster.broker_address(0).to_owned();
        assert!(cluster.stop(&address));
        cluster.advance(NOW + 60_000);
        assert!(last(&cluster).is_waiting() && cluster.next_delivery().is_none());
        assert!(cluster.start(&address));
        cluster.advance(NOW + 60_000);
        let stored = last(&cluster);
        assert_eq!((&*stored.topic, stored.queue_id, stored.queue_offset), ("Known", 3, 0), "{profile}");
        assert_eq!(stored.property(WAIT), Some("true"), "{profile}");
    }
}

/// A client of a network, driven until nothing is left to do.
struct World {
    network: Network,
    process: Process,
    producer: ProducerId,
}

impl World {
    fn new(cluster: ClusterConfig) -> Self {
        let mut network = Network::new(NetworkConfig { cluster, ..NetworkConfig::default() }, 1);
        network.with_cluster(|cluster| {
            cluster.create_topic(&TopicConfig::new("orders", 4));
            cluster.create_topic(&TopicConfig::new("%RETRY%readers", 1));
        });
        let config = ClientConfig::builder().name_server(network.cluster().name_server()).build().unwrap();
        let identity = Identity { ip: [10, 0, 0, 1].into(), pid: 1 };
        let start = Start { now: Instant::ZERO, unix_ms: network.unix_ms(), seed: 1, identity };
        let mut process = Process::new(0, config, start, 4_096);
        let producer = process.client().add_producer(Instant::ZERO, ProducerConfig::new("PG")).unwrap();
        Self { network, process, producer }
    }

    fn run(&mut self, time: Duration) -> Vec<Event> {
        let end = self.network.now() + time;
        let mut events = Vec::new();
        loop {
            let now = self.network.now();
            while let Some((_, stream)) = self.network.poll_news() {
                self.process.wake(stream);
            }
            self.process.turn(&mut self.network, now);
            assert_eq!(self.process.take_violation(), None);
            events.extend(core::iter::from_fn(|| self.process.poll_event()));
            let next = self.network.poll_timeout().unwrap().min(self.process.poll_timeout()).max(now);
            if next > end {
                self.network.handle_timeout(end);
                return events;
            }
            self.network.handle_timeout(next);
        }
    }

    /// Sends a message and reads it as a consumer would.
    fn stored(&mut self) -> (Record, String) {
        let message = Message::new("orders", "hello").tag("t").prepare(self.process.client().message_rules());
        let now = self.network.now();
        let options = SendOptions::default();
        self.process.client().send(now, self.producer, message.unwrap(), options).unwrap();
        let events = self.run(Duration::from_secs(1));
        let result = events.into_iter().find_map(|event| match event {
            Event::Sent { result, .. } => Some(result),
            _ => None,
        });
        let queue = result.unwrap();
        let broker = self.network.cluster().broker(&queue.queue.broker).unwrap();
        let stored = broker.store().at("orders", queue.queue.queue_id, queue.queue_offset).unwrap();
        (stored.record(), broker.name().to_owned())
    }

    fn give_back(&mut self, message: SendBack) -> Event {
        let now = self.network.now();
        let options = SendBackOptions::default();
        self.process.client().send_back(now, self.producer, message, options).unwrap();
        let is_end = |event: &Event| matches!(event, Event::SentBack { .. } | Event::SendBackFailed { .. });
        self.run(Duration::from_secs(9)).into_iter().find(is_end).expect("it ends")
    }

    /// The newest message of a topic, wherever it is.
    fn newest(&self, topic: &str) -> Option<StoredMessage> {
        self.network.cluster().stored().filter(|stored| &*stored.topic == topic).last().cloned()
    }
}

/// Through each redelivery by the broker up to the limit, then to the dead letters.
#[test]
fn a_message_comes_again_until_it_is_a_dead_letter() {
    for profile in Profile::ALL {
        let mut world = World::new(ClusterConfig { brokers: 2, ..config(profile) });
        let (mut record, broker) = world.stored();
        for times in 0..3 {
            let message = SendBack::new("readers", &record).unwrap().broker(&broker).max_reconsume_times(3);
            let event = world.give_back(message);
            assert!(matches!(event, Event::SentBack { how: SentBack::ByBroker, .. }), "{profile}: {event:?}");
            world.run(Duration::from_secs(70));
            let again = world.newest("%RETRY%readers").unwrap();
            assert_eq!(again.reconsume_times, times + 1);
            assert_eq!(again.property(DELAY), Some(&*(3 + times).to_string()));
            record = again.record();
        }
        assert_eq!((record.property(RETRY_TOPIC), &*record.body), (Some("orders"), &b"hello"[..]));
        let last = SendBack::new("readers", &record).unwrap().broker(&broker).max_reconsume_times(3);
        assert_eq!(last.topic(), "orders");
        world.give_back(last);
        let dead = world.newest("%DLQ%readers").unwrap();
        assert_eq!((dead.reconsume_times, &*dead.body), (4, &b"hello"[..]), "{profile}");
        assert_eq!(dead.unique_key(), record.unique_key());
    }
}

/// The broker that has it is asked, and does not answer; another one takes the copy, and counts on.
#[test]
fn the_retry_topic_takes_over_and_knows_the_limit() {
    for (most, topic) in [(16, "%RETRY%readers"), (0, "%DLQ%readers")] {
        let mut world = World::new(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
        let (mut record, broker) = world.stored();
        record.properties.push_str("TRAN_MSG\u{1}true\u{2}");
        let address = world.network.cluster().broker(&broker).unwrap().address().to_string();
        let fault = Fault::CloseOnRequest { carried_out: false };
        assert!(world.network.with_cluster(|cluster| cluster.fault(&address, fault)));
        let message = SendBack::new("readers", &record).unwrap().broker(&broker).max_reconsume_times(most);
        let event = world.give_back(message);
        assert!(matches!(event, Event::SentBack { how: SentBack::RetryTopic(_), .. }), "{event:?}");
        world.run(Duration::from_secs(11));
        let again = world.newest(topic).unwrap();
        assert_eq!((again.reconsume_times, again.unique_key()), (1, record.unique_key()));
        assert_eq!(again.property(ORIGIN_MESSAGE_ID), record.unique_key());
        assert_eq!((again.property(RETRY_TOPIC), again.property(TRAN_MSG)), (Some("orders"), None));
        assert_eq!(again.producer_group, "PG");
    }
}

#[test]
fn a_dead_letter_goes_to_the_dead_letters_or_nowhere() {
    let mut world = World::new(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
    let (record, broker) = world.stored();
    let message = SendBack::new("readers", &record).unwrap().redelivery(Redelivery::DeadLetter);
    let event = world.give_back(message.clone());
    assert!(matches!(event, Event::SentBack { how: SentBack::ByBroker, .. }), "by its store host: {event:?}");
    assert_eq!(world.newest("%DLQ%readers").unwrap().reconsume_times, 1);
    let address = world.network.cluster().broker(&broker).unwrap().address().to_string();
    assert!(world.network.with_cluster(|cluster| cluster.stop(&address)));
    world.run(Duration::from_secs(1));
    let before = world.network.cluster().stored().count();
    let Event::SendBackFailed { error, .. } = world.give_back(message) else { panic!() };
    assert_eq!(*error.kind(), SendBackErrorKind::DeadLetterRefused);
    assert!(!error.may_have_been_stored() && error.tries() > 2, "{error}");
    assert_eq!(world.network.cluster().stored().count(), before);
}
