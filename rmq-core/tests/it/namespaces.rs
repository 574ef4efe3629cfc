//! Namespaces: names on the wire and names for users (producer §1.5, wire §7.3, §7.4). Cases D9 and K3.

use rmq_core::proto::body::HeartbeatData;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::header::{RecallMessageHeader, SendBackHeader, UnregisterHeader};
use rmq_core::proto::message::{Message, MessageError, MessageRules};
use rmq_core::proto::names::NameError;
use rmq_core::proto::properties::{self, INSTANCE_ID, PGROUP, RETRY_TOPIC};
use rmq_core::proto::recall::RecallHandle;
use rmq_core::{
    ClientConfigBuilder, CloseReason, ConfigError, Event, Input, ProducerConfig, Recall, RejectReason,
    Resolution, SendBack, SendBackOptions, SendErrorKind, SendOptions, SentBack,
};

use crate::support::{Accept, Act, Net, address_of, back, config, ms, route, stored_message};
use crate::transactions::{ends, half_sent, question_about};

fn net_of(config: ClientConfigBuilder) -> Net {
    Net::with(config.build().unwrap(), ProducerConfig::new("PG"))
}

/// A client in `INST`; brokers have `INST%T`.
fn net() -> Net {
    let mut net = net_of(config().namespace("INST"));
    let known = net.routes.remove("T").unwrap();
    net.routes.insert("INST%T".into(), known);
    net
}

fn topics_asked(net: &Net) -> Vec<String> {
    let asked = net.requests(RequestCode::GET_ROUTEINFO_BY_TOPIC);
    asked.iter().map(|seen| seen.command.ext.value("topic").unwrap().into_owned()).collect()
}

fn instance(text: &str) -> Option<&str> {
    properties::value(text, INSTANCE_ID)
}

#[test]
fn names_are_wrapped_on_the_wire_and_unwrapped_for_users() {
    let mut net = net();
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    let result = net.take_sent(op).1;
    assert_eq!(&*result.queue.topic, "T");
    assert_eq!(topics_asked(&net), ["INST%T"]);
    let header = net.sends()[0].send();
    assert_eq!(
        (&*header.topic, &*header.producer_group, &*header.default_topic),
        ("INST%T", "INST%PG", "TBW102")
    );
    assert_eq!(instance(&header.properties.unwrap()), Some("INST"));
    let beats = net.requests(RequestCode::HEART_BEAT);
    assert_eq!(HeartbeatData::decode(&beats[0].command.body).unwrap().producers, ["INST%PG"]);
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(1_000));
    let gone = net.requests(RequestCode::UNREGISTER_CLIENT);
    let header: UnregisterHeader<'_> = gone[0].command.header().unwrap();
    assert_eq!(header.producer_group.as_deref(), Some("INST%PG"));
}

#[test]
fn d9_all_attempts_have_the_topic_wrapped_once() {
    let mut net = net();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "busy")].into();
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(1_000));
    let topics: Vec<_> = net.sends().iter().map(|seen| seen.send().topic.into_owned()).collect();
    assert_eq!(topics, ["INST%T"; 3]);
    assert_eq!(&*net.take_sent(op).1.queue.topic, "T");
    // A name that is wrapped already is not wrapped again.
    let op = net.send("INST%T", SendOptions::default());
    net.run(ms(0));
    assert_eq!(net.sends().last().unwrap().send().topic, "INST%T");
    assert_eq!(&*net.take_sent(op).1.queue.topic, "T");
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Code(ResponseCode::SYSTEM_BUSY, "busy"));
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(1_000));
    let error = net.take_error(op).1;
    assert_eq!(error.topic(), "T");
    assert!(error.to_string().contains("topic `T`") && !error.to_string().contains("INST"), "{error}");
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.queued, stats.awaited), (0, 0, 0, 0));
}

/// The default topic belongs to the system, and so to no namespace; a topic that is made of it is the namespace's own.
#[test]
fn a_topic_that_is_yet_to_be_created_is_created_in_the_namespace() {
    let mut net = net();
    net.routes.insert("TBW102".into(), route(&[("a", 8)]));
    let op = net.send("New", SendOptions::default());
    net.run(ms(0));
    assert_eq!(topics_asked(&net), ["INST%New", "TBW102"]);
    assert_eq!(net.sends()[0].send().topic, "INST%New");
    assert_eq!(&*net.take_sent(op).1.queue.topic, "New");
    net.routes.remove("TBW102");
    let op = net.send("Newer", SendOptions::default());
    net.run(ms(0));
    let error = net.take_error(op).1;
    assert!(
        matches!(error.kind(), SendErrorKind::TopicNotFound { .. }) && error.topic() == "Newer",
        "{error}"
    );
}

#[test]
fn queues_have_the_users_topic() {
    let mut net = net();
    assert_eq!(net.client.publish_queues(net.now, "T"), None);
    let op = net.client.find_queues(net.now, net.producer, "T", None).unwrap();
    net.run(ms(0));
    let (_, Event::QueuesFound { queues, .. }) = net.end(op) else { panic!("{:?}", net.events) };
    let queues = queues.clone();
    assert!(queues.len() == 4 && queues.iter().all(|queue| &*queue.topic == "T"));
    assert_eq!(net.client.publish_queues(net.now, "T").as_deref(), Some(&*queues));
    let message = Message::new("T", "Hello").prepare(net.client.message_rules()).unwrap();
    let op = net.client.send_to(net.now, net.producer, &queues[2], message, SendOptions::default()).unwrap();
    net.run(ms(0));
    assert_eq!(net.take_sent(op).1.queue, queues[2]);
    assert_eq!(net.sends()[0].send().topic, "INST%T");
    let op = net.client.find_queues(net.now, net.producer, "Gone", None).unwrap();
    net.run(ms(0));
    assert_eq!(net.take_error(op).1.topic(), "Gone");
}

#[test]
fn a_message_is_given_back_within_the_namespace() {
    let mut net = net();
    net.routes.insert("%RETRY%INST%g".into(), route(&[("a", 1), ("b", 1)]));
    net.warm();
    let code = RequestCode::CONSUMER_SEND_MSG_BACK;
    net.broker("a").others.insert(code.0, Act::Code(ResponseCode::SYSTEM_ERROR, "no"));
    // As it comes from a broker, and as it is shown to a user.
    let mut stored = stored_message();
    stored.topic = "INST%T".into();
    for message in [back(), SendBack::new("g", &stored).unwrap().broker("a")] {
        net.forget();
        let op = net.send_back(message);
        net.run(ms(0));
        let SentBack::RetryTopic(result) = net.take_sent_back(op).1 else { panic!("it is refused") };
        assert_eq!(&*result.queue.topic, "%RETRY%g");
        let header: SendBackHeader<'_> = net.requests(code)[0].command.header().unwrap();
        assert_eq!((&*header.group, header.origin_topic.as_deref()), ("INST%g", Some("INST%T")));
        let header = net.sends()[0].send();
        assert_eq!(&*header.topic, "%RETRY%INST%g");
        assert_eq!((header.reconsume_times, header.max_reconsume_times), (Some(3), Some(16)));
        let text = header.properties.unwrap();
        assert_eq!((instance(&text), properties::value(&text, RETRY_TOPIC)), (Some("INST"), Some("INST%T")));
    }
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Code(ResponseCode::SYSTEM_ERROR, "no"));
    }
    let op = net.send_back(back());
    net.run(ms(8_000));
    let error = net.take_back_error(op).1;
    assert_eq!((error.group(), error.topic(), error.retry().unwrap().topic()), ("g", "T", "%RETRY%g"));
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes), (0, 0));
}

/// Groups and topics of transactions are those on the wire; the user is shown and says its own.
#[test]
fn transactions_are_in_the_namespace() {
    let mut net = net();
    let half = half_sent(&mut net);
    assert_eq!(&*half.queue.topic, "T");
    let header = net.sends()[0].send();
    assert_eq!(properties::value(&header.properties.unwrap(), PGROUP), Some("INST%PG"));
    let commit = Resolution::Commit;
    let op = net.client.end_transaction(net.now, net.producer, &half, commit, None).unwrap();
    net.run(ms(0));
    assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
    let end = &ends(&net)[0];
    assert_eq!((end.topic.as_deref(), &*end.producer_group), (Some("INST%T"), "INST%PG"));
    let conn = net.conn(&address_of(&half.queue.broker)).unwrap();
    let mut asked = stored_message();
    asked.topic = "INST%T".into();
    asked.properties.push_str("PGROUP\u{1}INST%PG\u{2}");
    net.answer(conn, &question_about(&asked, None));
    net.run(ms(0));
    let token = net.events.iter().find_map(|(_, event)| match event {
        Event::TransactionCheck { token, message, .. } => Some((*token, message.topic.to_string())),
        _ => None,
    });
    let (token, topic) = token.expect("it is passed on");
    assert_eq!(topic, "T");
    let reason = CloseReason::PeerClosed;
    net.broker(&half.queue.broker).accept = Some(Accept::Refuse);
    net.client.handle_input(net.now, Input::Closed { conn, reason });
    let op = net.client.answer_check(net.now, token, commit, None).unwrap();
    net.run(ms(5_000));
    let (_, Event::EndTransactionFailed { error, .. }) = net.end(op) else { panic!("nobody is there") };
    assert_eq!(error.topic(), "T");
    assert_eq!(net.client.stats().operations, 0);
    // A half message of a client without the namespace is not of this producer.
    let half = Message::new("T", "Hello").prepare_half(&MessageRules::default(), "PG").unwrap();
    let rejected = net.client.send_half(net.now, net.producer, half, SendOptions::default()).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::NotHalf);
}

#[test]
fn recalls_are_in_the_namespace() {
    let mut net = net();
    let handle = RecallHandle {
        topic: "INST%T".into(),
        broker_name: "a".into(),
        timestamp: 1_700_000_100_000,
        unique_key: "AC0A".into(),
    };
    let recall = Recall::new("T", handle.encode().unwrap()).unwrap();
    let code = RequestCode::RECALL_MESSAGE;
    net.broker("a").others.insert(code.0, Act::Code(ResponseCode::SYSTEM_ERROR, "no"));
    let op = net.client.recall(net.now, net.producer, recall).unwrap();
    net.run(ms(0));
    let header: RecallMessageHeader<'_> = net.requests(code)[0].command.header().unwrap();
    assert_eq!((&*header.topic, header.producer_group.as_deref()), ("INST%T", Some("INST%PG")));
    let (_, Event::RecallFailed { error, .. }) = net.end(op) else { panic!("{:?}", net.events) };
    assert_eq!(error.topic(), "T");
}

/// Names have to be short enough for their namespace, wherever they come from.
#[test]
fn names_that_are_too_long_with_their_namespace_are_refused() {
    let namespace = "N".repeat(20);
    let mut net = net_of(config().namespace(&namespace));
    let (group, topic) = ("g".repeat(100), "t".repeat(107));
    let error = net.client.add_producer(net.now, ProducerConfig::new(group.clone())).unwrap_err();
    let too_long = NameError::TooLong { len: 121, max: 120 };
    assert_eq!(error, ConfigError::Group { group: group.clone(), error: too_long });
    let error = Message::new(topic.clone(), "Hello").prepare(net.client.message_rules()).unwrap_err();
    let too_long = NameError::TooLong { len: 128, max: 127 };
    assert_eq!(error, MessageError::Topic { topic: topic.clone(), error: too_long });
    let message = Message::new(topic.clone(), "Hello").prepare(&MessageRules::default()).unwrap();
    let rejected =
        net.client.send(net.now, net.producer, message.clone(), SendOptions::default()).unwrap_err();
    assert_eq!((rejected.reason, rejected.given), (RejectReason::TopicName, message));
    let error = net.client.find_queues(net.now, net.producer, &topic, None).unwrap_err();
    assert_eq!(error, RejectReason::TopicName);
    let message = SendBack::new(group, &stored_message()).unwrap();
    let options = SendBackOptions::default();
    let rejected = net.client.send_back(net.now, net.producer, message.clone(), options).unwrap_err();
    assert_eq!((rejected.reason, rejected.given), (RejectReason::TopicName, message));
    assert_eq!((net.client.stats().rejected, net.client.stats().operations), (3, 0));
    let error = net.client.add_producer(net.now, ProducerConfig::new("PG")).unwrap_err();
    assert_eq!(error, ConfigError::DuplicateGroup { group: "PG".into() });
}

#[test]
fn namespaces_are_checked() {
    for name in ["a%b", "%RETRY%a", "a.b", "ä", " ", &"n".repeat(119)] {
        let error = config().namespace(name).build().unwrap_err();
        assert_eq!(error, ConfigError::Namespace { namespace: name.into() });
    }
    let longest = "n".repeat(118);
    Net::with(config().namespace(&longest).build().unwrap(), ProducerConfig::new("g"));
    let both = config().namespace("a").namespace_v2("b").build();
    assert_eq!(both.unwrap_err(), ConfigError::TwoNamespaces);
    assert!(config().namespace_v2(&"b".repeat(1_025)).build().is_err());
    assert_eq!(config().namespace("").build().unwrap().message_rules().namespace, None);
}

/// wire §7.4: version 2 is two fields, and changes no name.
#[test]
fn version_2_is_told_in_every_request() {
    let mut net = net_of(config().namespace_v2("blue"));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    assert_eq!(&*net.take_sent(op).1.queue.topic, "T");
    let op = net.send_back(back());
    net.run(ms(0));
    net.take_sent_back(op);
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(1_000));
    assert!(net.seen.len() >= 5, "{:?}", net.seen);
    for seen in &net.seen {
        let value = |name| seen.command.ext.value(name).map(|value| value.into_owned());
        assert_eq!((value("ns").as_deref(), value("nsd").as_deref()), (Some("blue"), Some("true")));
    }
    let header = net.sends()[0].send();
    assert_eq!((&*header.topic, &*header.producer_group), ("T", "PG"));
    assert_eq!(instance(&header.properties.unwrap()), None);
}

/// A `%` is a character like others: a namespace ends at the one behind our own prefix, and nowhere else.
#[test]
fn k3_names_may_have_a_percent_sign() {
    for (name, on_the_wire) in [
        ("a%b", "INST%a%b"),
        ("%a", "INST%%a"),
        ("OTHER%T", "INST%OTHER%T"),
        ("INST", "INST%INST"),
        ("%RETRY%g", "%RETRY%INST%g"),
    ] {
        let mut net = net();
        net.routes.insert(on_the_wire.into(), route(&[("a", 1)]));
        let op = net.send(name, SendOptions::default());
        net.run(ms(0));
        assert_eq!(&*net.take_sent(op).1.queue.topic, name);
        assert_eq!(net.sends()[0].send().topic, on_the_wire);
        // Without a namespace nothing is taken for one.
        let mut net = net_of(config());
        net.routes.insert(name.into(), route(&[("a", 1)]));
        let op = net.send(name, SendOptions::default());
        net.run(ms(0));
        assert_eq!((&*net.take_sent(op).1.queue.topic, &*net.sends()[0].send().topic), (name, name));
    }
    let error = Message::new("a.b", "Hello").prepare(&MessageRules::default()).unwrap_err();
    let MessageError::Topic { topic, error } = error else { panic!("{error}") };
    assert_eq!((&*topic, &error), ("a.b", &NameError::Character { at: 1, found: '.' }));
    assert!(error.to_string().contains("letters a-z and A-Z, digits and %|_-"), "{error}");
    let mut popped = stored_message();
    popped.topic = "%RETRY%g+t".into();
    assert_eq!(SendBack::new("g", &popped).unwrap().topic(), "%RETRY%g+t", "a broker has such topics");
}
