//! Users and what they may do: the model's rules, and clients that meet them.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmq_core::{
    ClientConfig, Event, Identity, Instant, OutgoingRequest, ProducerConfig, RequestFields, RequestHook,
    SendBack, SendBackOptions, SendOptions, SentBack, Start,
};
use rmq_driver::{Error, Message, SendErrorKind};
use rmq_proto::body::{
    ConsumeFromWhere, ConsumeType, ConsumerData, HeartbeatData, MessageModel, SubscriptionData,
};
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::ext::ExtFields;
use rmq_proto::header::{GetMaxOffsetHeader, SendBackHeader, SendMessageV2Header, UnregisterHeader};
use rmq_proto::properties::{INSTANCE_ID, RETRY_TOPIC};
use rmq_proto::sign::Credentials;
use rmq_sim::World;
use rmq_sim::model::{Access, Cluster, ClusterConfig, PeerConn, Profile, TopicConfig, User};
use rmq_sim::net::{Network, NetworkConfig};
use rmq_sim::run::Process;
use support::{ask, broker, config, name_server, route_request, send_header, send_request};

fn admin() -> Credentials {
    Credentials::new("acl-admin", "admin-secret").unwrap()
}

fn user() -> Credentials {
    Credentials::new("acl-user", "user-secret").unwrap()
}

/// The users of the real clusters whose words the model has.
fn guarded(profile: Profile) -> ClusterConfig {
    let user = User::new(user())
        .topic("AclBoth", Access::Both)
        .topic("AclPub", Access::Publish)
        .topic("AclSub", Access::Subscribe)
        .group("acl-group", Access::Subscribe);
    ClusterConfig { users: vec![User::admin(admin()), user], ..config(profile) }
}

fn cluster(profile: Profile) -> (Cluster, PeerConn) {
    let mut cluster = Cluster::new(guarded(profile));
    let conn = broker(&mut cluster, 0);
    (cluster, conn)
}

fn signed(request: RemotingCommand, credentials: &Credentials) -> RemotingCommand {
    let own = request.ext.clone();
    let body = request.body.clone();
    RemotingCommand { ext: ExtFields::new(), ..request }.with_ext(&credentials.sign(&own, &body))
}

fn send_to(topic: &str) -> RemotingCommand {
    send_request(&send_header(topic), "hello")
}

fn max_offset(topic: &str) -> RemotingCommand {
    let header = GetMaxOffsetHeader { topic: topic.into(), queue_id: 0, committed: None, broker_name: None };
    RemotingCommand::request(RequestCode::GET_MAX_OFFSET).with_ext(&header)
}

fn give_back(group: &str, topic: &str) -> RemotingCommand {
    RemotingCommand::request(RequestCode::CONSUMER_SEND_MSG_BACK).with_ext(&SendBackHeader {
        commit_log_offset: 0,
        group: group.into(),
        delay_level: 0,
        origin_message_id: Some("AA".into()),
        origin_topic: Some(topic.into()),
        unit_mode: Some(false),
        max_reconsume_times: Some(16),
        broker_name: None,
    })
}

/// Each denial as the real brokers word it.
#[test]
fn denials_have_the_words_of_each_release() {
    let ghost = Credentials::new("acl-ghost", "user-secret").unwrap();
    let wrong = Credentials::new("acl-user", "another-secret").unwrap();
    let create = RemotingCommand::request(RequestCode::UPDATE_AND_CREATE_TOPIC)
        .with_ext(&[("topic", "AclOther")].into_iter().collect::<ExtFields>());
    let mut unsigned = signed(send_to("AclPub"), &user());
    assert!(unsigned.ext.remove("Signature"));
    let mut altered = signed(send_to("AclPub"), &user());
    altered.body = "hallo".into();
    let rows = [
        (signed(send_to("AclPub"), &ghost), "User:acl-ghost is not found.", "No acl config for acl-ghost"),
        (
            signed(send_to("AclPub"), &wrong),
            "check signature failed.",
            "Check signature failed for accessKey=acl-user",
        ),
        (unsigned, "check signature failed.", "Check signature failed for accessKey=acl-user"),
        (altered, "check signature failed.", "Check signature failed for accessKey=acl-user"),
        (send_to("AclPub"), "username cannot be null.", "No accessKey is configured"),
        (
            signed(send_to("AclSub"), &user()),
            "User:acl-user has no permission to access Topic:AclSub from 127.0.0.1, the decision is deny.",
            "No default permission for topic:AclSub",
        ),
        (
            signed(give_back("other-group", "AclBoth"), &user()),
            "User:acl-user has no permission to access Group:other-group from 127.0.0.1, the decision is deny.",
            "No default permission for group:other-group",
        ),
        (
            signed(create, &user()),
            "User:acl-user has no permission to access Topic:AclOther from 127.0.0.1, the decision is deny.",
            "Need admin permission for request code=17, but accessKey=acl-user is not",
        ),
    ];
    for profile in Profile::ALL {
        let (mut cluster, conn) = cluster(profile);
        for (request, acl_2, acl_1) in &rows {
            let answer = ask(&mut cluster, conn, request).only();
            let remark = answer.remark.as_deref().unwrap();
            match profile {
                Profile::V5_3 => assert_eq!((answer.code, remark), (16, *acl_2)),
                Profile::V4_9 => {
                    let remark = remark.strip_prefix("org.apache.rocketmq.acl.common.AclException: ");
                    assert_eq!((answer.code, remark), (1, Some(*acl_1)));
                }
            }
        }
        assert_eq!(cluster.stored().count(), 0, "{profile}: nothing is carried out");
        assert!(cluster.brokers()[0].topic("AclPub").is_none());
    }
}

#[test]
fn what_is_allowed_is_served() {
    let register = |consumers| {
        let data = HeartbeatData {
            client_id: "c".into(),
            producers: vec!["PG".into()],
            consumers,
            ..HeartbeatData::default()
        };
        RemotingCommand::request(RequestCode::HEART_BEAT).with_body(data.encode())
    };
    let subscription = |topic: &str| SubscriptionData { topic: topic.into(), ..SubscriptionData::default() };
    let consumer = |group: &str, topics: &[&str]| ConsumerData {
        consume_from_where: ConsumeFromWhere::LastOffset,
        consume_type: ConsumeType::Passively,
        group_name: group.into(),
        message_model: MessageModel::Clustering,
        subscriptions: topics.iter().map(|topic| subscription(topic)).collect(),
        unit_mode: false,
    };
    let leave =
        UnregisterHeader { client_id: "c".into(), producer_group: Some("PG".into()), consumer_group: None };
    let leave = RemotingCommand::request(RequestCode::UNREGISTER_CLIENT).with_ext(&leave);
    for profile in Profile::ALL {
        let is_5 = profile == Profile::V5_3;
        let denied = if is_5 { 16 } else { 1 };
        let (mut cluster, conn) = cluster(profile);
        let rows = [
            (send_to("AclPub"), 0),
            (send_to("AclBoth"), 0),
            (give_back("acl-group", "AclBoth"), 0),
            // Only 4.9.7 wants to know whether who gives back could have sent.
            (give_back("acl-group", "AclSub"), if is_5 { 0 } else { denied }),
            (max_offset("AclBoth"), if is_5 { denied } else { 0 }),
            (register(vec![]), 0),
            (register(vec![consumer("acl-group", &["AclSub", "%RETRY%acl-group"])]), 0),
            (register(vec![consumer("acl-group", &["AclPub"])]), denied),
            (register(vec![consumer("other-group", &["AclSub"])]), denied),
            (leave.clone(), 0),
        ];
        for (request, code) in rows {
            let code_of_request = request.code;
            let answer = ask(&mut cluster, conn, &signed(request.clone(), &user())).only();
            assert_eq!(answer.code, code, "{profile}: {code_of_request} {:?}", answer.remark);
            let answer = ask(&mut cluster, conn, &signed(request, &admin())).only();
            assert_eq!(answer.code, 0, "{profile}: {code_of_request} by the administrator");
        }
        let ns = name_server(&mut cluster);
        let answer = ask(&mut cluster, ns, &route_request("AclPub")).only();
        assert_eq!(answer.code, 0, "{profile}: name servers ask nobody");
    }
}

/// I6: either release looks at the group of the producer, as it has no other, whoever the retry is for.
#[test]
fn i6_retries_are_denied_by_the_producers_group() {
    for profile in Profile::ALL {
        let (mut cluster, conn) = cluster(profile);
        for (producer, code) in [("acl-group", 0), ("PG", if profile == Profile::V5_3 { 16 } else { 1 })] {
            let header = SendMessageV2Header {
                queue_id: 0,
                ..SendMessageV2Header::new(producer, "%RETRY%acl-group")
                    .with_properties("UNIQ_KEY\u{1}A\u{2}")
            };
            let answer = ask(&mut cluster, conn, &signed(send_request(&header, "x"), &user())).only();
            assert_eq!(answer.code, code, "{profile}: {:?}", answer.remark);
        }
    }
}

fn world(profile: Profile) -> World {
    let network = NetworkConfig { cluster: guarded(profile), ..NetworkConfig::default() };
    World::builder(3).network(network).topic("AclPub", 4).topic("AclSub", 4).build()
}

fn denial(result: Result<rmq_driver::SendResult, Error>) -> (Option<ResponseCode>, String) {
    let Err(Error::Send(error)) = result else { panic!("it is denied, not {result:?}") };
    assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
    (error.code(), error.to_string())
}

/// Without credentials, with wrong ones, with the right ones, and with none again; the connections stay.
#[test]
fn a_client_gets_in_when_its_credentials_are_right() {
    for profile in Profile::ALL {
        let (code, missing, wrong, topic) = match profile {
            Profile::V5_3 => (
                ResponseCode::NO_PERMISSION,
                "username cannot be null.",
                "check signature failed.",
                "no permission to access Topic:AclSub",
            ),
            Profile::V4_9 => (
                ResponseCode::SYSTEM_ERROR,
                "No accessKey is configured",
                "Check signature failed",
                "No default permission for topic:AclSub",
            ),
        };
        let world = world(profile);
        let outcome = world.run(async |client| {
            let producer = client.producer("PG").unwrap();
            let send = async |topic: &str| producer.send(Message::new(topic, "hello")).await;
            let (told, text) = denial(send("AclPub").await);
            assert!(told == Some(code) && text.contains(missing), "{profile}: {text}");
            client.set_credentials(Some(Credentials::new("acl-user", "wrong").unwrap()));
            let (told, text) = denial(send("AclPub").await);
            assert!(told == Some(code) && text.contains(wrong), "{profile}: {text}");
            client.set_credentials(Some(user()));
            assert_eq!(&*send("AclPub").await.unwrap().queue.topic, "AclPub");
            let (told, text) = denial(send("AclSub").await);
            assert!(told == Some(code) && text.contains(topic), "{profile}: {text}");
            client.set_credentials(None);
            denial(send("AclPub").await);
            let stats = client.stats();
            assert_eq!((stats.connects, stats.disconnects, stats.operations), (2, 0, 0));
            client.shutdown().await.unwrap();
        });
        assert_eq!(outcome.stored().count(), 1, "{profile}");
    }
}

#[derive(Default)]
struct Counts(Mutex<u32>);

impl RequestHook for Counts {
    fn before_request(&self, _: &OutgoingRequest<'_>, fields: &mut RequestFields) {
        *self.0.lock().unwrap() += 1;
        fields.add("Zone", "z1").unwrap();
    }
}

/// Credentials, a hook and a namespace by the builder of the driver; brokers know topics by their names on the wire.
#[test]
fn a_client_in_a_namespace_signs_the_names_on_the_wire() {
    for profile in Profile::ALL {
        let user = User::new(user()).topic("INST%orders", Access::Publish);
        let cluster = ClusterConfig { users: vec![user], ..config(profile) };
        let world = World::builder(4)
            .network(NetworkConfig { cluster, ..NetworkConfig::default() })
            .topic("INST%orders", 4)
            .build();
        let hook = Arc::new(Counts::default());
        let counts = Arc::clone(&hook);
        let outcome = world.run_with(async |sim| {
            let builder = sim.builder().credentials(self::user()).namespace("INST").hook(hook);
            let client = builder.start_on(sim.clone()).unwrap();
            let producer = client.producer("PG").unwrap();
            let result = producer.send(Message::new("orders", "hello")).await.unwrap();
            assert_eq!(&*result.queue.topic, "orders");
            let queues = producer.queues("orders").await.unwrap();
            assert!(queues.len() == 4 && &*queues[0].topic == "orders");
            denial(producer.send(Message::new("others", "hello")).await);
            client.shutdown().await.unwrap();
        });
        let stored: Vec<_> = outcome.stored().collect();
        assert_eq!(stored.len(), 1, "{profile}");
        assert_eq!((&*stored[0].topic, &*stored[0].producer_group), ("INST%orders", "INST%PG"));
        assert_eq!(stored[0].property(INSTANCE_ID), Some("INST"));
        assert!(*counts.0.lock().unwrap() >= 5);
    }
}

/// Lets time pass; gives the ends of operations.
fn run(process: &mut Process, network: &mut Network, time: Duration) -> Vec<Event> {
    let end = network.now() + time;
    let mut events = Vec::new();
    loop {
        let now = network.now();
        while let Some((_, stream)) = network.poll_news() {
            process.wake(stream);
        }
        process.turn(network, now);
        assert_eq!(process.take_violation(), None);
        events.extend(std::iter::from_fn(|| process.poll_event()));
        let next = network.poll_timeout().unwrap().min(process.poll_timeout()).max(now);
        network.handle_timeout(next.min(end));
        if next > end {
            events.retain(|event| {
                use Event::{ConnectionClosed, ConnectionOpened, RouteLearned};
                !matches!(event, ConnectionOpened { .. } | ConnectionClosed { .. } | RouteLearned { .. })
            });
            return events;
        }
    }
}

/// A checked client with all of it: send, give back, be given the copy by the retry topic, and keep every promise.
#[test]
fn a_send_back_in_a_namespace_keeps_to_it() {
    for profile in Profile::ALL {
        let guarded = ClusterConfig { brokers: 2, users: vec![User::admin(admin())], ..config(profile) };
        let mut network = Network::new(NetworkConfig { cluster: guarded, ..NetworkConfig::default() }, 1);
        network.with_cluster(|cluster| {
            cluster.create_topic(&TopicConfig::new("INST%orders", 4));
            cluster.create_topic(&TopicConfig::new("%RETRY%INST%readers", 1));
        });
        let config = ClientConfig::builder().name_server(network.cluster().name_server());
        let config = config.credentials(admin()).namespace("INST").hook(Arc::new(Counts::default()));
        let identity = Identity { ip: [10, 0, 0, 1].into(), pid: 1 };
        let start = Start { now: Instant::ZERO, unix_ms: network.unix_ms(), seed: 1, identity };
        let mut process = Process::new(0, config.build().unwrap(), start, 4_096);
        let producer = process.client().add_producer(Instant::ZERO, ProducerConfig::new("PG")).unwrap();
        let message = Message::new("orders", "hello").prepare(process.client().message_rules()).unwrap();
        process.client().send(Instant::ZERO, producer, message, SendOptions::default()).unwrap();
        let events = run(&mut process, &mut network, Duration::from_secs(1));
        assert!(
            matches!(&events[..], [Event::Sent { result, .. }] if &*result.queue.topic == "orders"),
            "{events:?}"
        );
        let stored = network.cluster().stored().next().unwrap();
        let (record, broker) = (stored.record(), stored.broker.to_string());
        for (broker, by_broker) in [(broker, true), ("gone".to_owned(), false)] {
            let now = network.now();
            let back = SendBack::new("readers", &record).unwrap().broker(&broker);
            process.client().send_back(now, producer, back, SendBackOptions::default()).unwrap();
            let events = run(&mut process, &mut network, Duration::from_secs(30));
            match &events[..] {
                [Event::SentBack { how: SentBack::ByBroker, .. }] => assert!(by_broker),
                [Event::SentBack { how: SentBack::RetryTopic(result), .. }] => {
                    assert!(!by_broker && &*result.queue.topic == "%RETRY%readers");
                }
                _ => panic!("{profile}: {events:?}"),
            }
            let retries = network.cluster().stored().filter(|stored| &*stored.topic == "%RETRY%INST%readers");
            let last = retries.last().unwrap();
            assert_eq!(last.property(RETRY_TOPIC), Some("INST%orders"), "{profile}");
            assert_eq!(last.property(INSTANCE_ID), Some("INST"), "{profile}");
        }
    }
}
