//! Requests and replies as messages: producer §10.1, wire §5.17.

use std::time::Duration;

use rmq_proto::code::RequestCode;
use rmq_proto::header::PushReplyHeader;
use rmq_proto::id::{CorrelationId, UniqueKeyGenerator};
use rmq_proto::message::{
    CORRELATION_ROOM, ID_ROOM, Message, MessageError, MessageRules, Reply, StoredMessage, SysFlag,
};
use rmq_proto::names::NameError;
use rmq_proto::properties::{self, CLUSTER, CORRELATION_ID, REPLY_TO_CLIENT};

const CLIENT: &str = "10.0.0.9@1234#0123456789abcdef";

fn rules() -> MessageRules {
    MessageRules::default()
}

#[test]
fn a_request_says_who_waits_and_how_long() {
    let message = Message::new("orders", "ping").tag("t").property("p", "1");
    let request = message.prepare_request(&rules(), CLIENT, Duration::from_millis(1_500)).unwrap();
    assert_eq!((request.client_id(), request.timeout()), (CLIENT, Duration::from_millis(1_500)));
    let prepared = request.message();
    assert_eq!(
        (prepared.topic(), prepared.request_code(), prepared.sys_flag()),
        ("orders", RequestCode::SEND_MESSAGE_V2, 0)
    );
    let expected = format!(
        "TAGS\u{1}t\u{2}WAIT\u{1}true\u{2}REPLY_TO_CLIENT\u{1}{CLIENT}\u{2}TTL\u{1}1500\u{2}p\u{1}1\u{2}"
    );
    assert_eq!(prepared.properties(), expected);
    let key = UniqueKeyGenerator::new([10, 0, 0, 9].into(), 1, [0; 4]).next(0);
    let id = CorrelationId::from_random(7);
    let text = request.properties_with_ids(&key, id);
    assert_eq!(text, format!("{expected}CORRELATION_ID\u{1}{id}\u{2}UNIQ_KEY\u{1}{key}\u{2}"));
    assert!(text.len() <= expected.len() + CORRELATION_ROOM + ID_ROOM);
}

#[test]
fn requests_obey_the_rules_of_messages() {
    let wait = Duration::from_secs(3);
    let error = Message::new("orders", "").prepare_request(&rules(), CLIENT, wait).unwrap_err();
    assert!(matches!(error, MessageError::EmptyBody { .. }), "{error}");
    let error = Message::new("orders", "x").prepare_request(&rules(), "a\u{2}b", wait).unwrap_err();
    let MessageError::SeparatorInProperty { name, .. } = error else { panic!("{error}") };
    assert_eq!(name, REPLY_TO_CLIENT);
    // The longest property that an ordinary message has room for is too long by what joins the reply to the request.
    let of = |len: usize| Message::new("orders", "x").property("p", "v".repeat(len));
    let longest = (0..properties::MAX_LEN)
        .rev()
        .find(|len| of(*len).prepare_request(&rules(), CLIENT, wait).is_ok())
        .unwrap();
    let fits = of(longest).prepare_request(&rules(), CLIENT, wait).unwrap();
    let len = fits.message().properties().len() + CORRELATION_ROOM + ID_ROOM;
    assert_eq!(len, properties::MAX_LEN);
}

fn stored(text: &str) -> StoredMessage {
    StoredMessage { topic: "orders".into(), properties: text.into(), ..StoredMessage::default() }
}

const REQUEST: &str = "CLUSTER\u{1}DefaultCluster\u{2}CORRELATION_ID\u{1}id\u{2}REPLY_TO_CLIENT\u{1}me@1\u{2}TTL\u{1}3000\u{2}UNIQ_KEY\u{1}AA";

#[test]
fn a_reply_goes_to_the_cluster_of_its_request() {
    let reply = Reply::new(&stored(REQUEST), "pong").unwrap().tag("t").key("k").property("p", "1");
    assert_eq!((reply.message().topic(), reply.client_id()), ("DefaultCluster_REPLY_TOPIC", "me@1"));
    let prepared = reply.prepare(&rules()).unwrap();
    assert_eq!(prepared.request_code(), RequestCode::SEND_REPLY_MESSAGE_V2);
    assert_eq!((prepared.topic(), &**prepared.body()), ("DefaultCluster_REPLY_TOPIC", &b"pong"[..]));
    assert_eq!(
        prepared.properties(),
        "KEYS\u{1}k\u{2}TAGS\u{1}t\u{2}WAIT\u{1}true\u{2}MSG_TYPE\u{1}reply\u{2}CORRELATION_ID\u{1}id\u{2}\
         REPLY_TO_CLIENT\u{1}me@1\u{2}TTL\u{1}3000\u{2}p\u{1}1\u{2}"
    );
    let timeless = REQUEST.replace("TTL\u{1}3000\u{2}", "");
    let prepared = Reply::new(&stored(&timeless), "pong").unwrap().prepare(&rules()).unwrap();
    assert!(prepared.properties().ends_with("REPLY_TO_CLIENT\u{1}me@1\u{2}"), "{}", prepared.properties());
}

#[test]
fn only_stored_requests_can_be_replied_to() {
    for name in [CLUSTER, CORRELATION_ID, REPLY_TO_CLIENT] {
        for spoilt in [
            REQUEST.replace(name, "X"),
            REQUEST.replace(&format!("{name}\u{1}"), &format!("{name}\u{1}a\u{1}")),
        ] {
            let error = Reply::new(&stored(&spoilt), "pong").unwrap_err();
            assert_eq!((error.missing, &*error.topic, &*error.message_id), (name, "orders", "AA"));
            let text =
                format!("message AA of topic `orders` cannot be replied to: it has no property {name}");
            assert!(error.to_string().starts_with(&text), "{error}");
        }
    }
    let bad_cluster = REQUEST.replace("DefaultCluster", "a cluster");
    let error = Reply::new(&stored(&bad_cluster), "pong").unwrap().prepare(&rules()).unwrap_err();
    assert!(
        matches!(error, MessageError::Topic { error: NameError::Character { found: ' ', .. }, .. }),
        "{error}"
    );
    let error = Reply::new(&stored(REQUEST), "").unwrap().prepare(&rules()).unwrap_err();
    assert!(matches!(error, MessageError::EmptyBody { .. }), "{error}");
}

#[test]
fn a_pushed_reply_is_read_whatever_its_hosts_are() {
    let header = |born: &'static str, text: &'static str| PushReplyHeader {
        producer_group: "g".into(),
        topic: "DefaultCluster_REPLY_TOPIC".into(),
        default_topic: "TBW102".into(),
        default_topic_queue_nums: 4,
        queue_id: 2,
        sys_flag: 1,
        born_timestamp: 5,
        flag: 7,
        properties: Some(text.into()),
        reconsume_times: None,
        unit_mode: None,
        born_host: born.into(),
        store_host: "127.0.0.1:10911".into(),
        store_timestamp: 6,
    };
    let nowhere = "0.0.0.0:0".parse().unwrap();
    for (born, text, expected) in [
        ("127.0.0.1:1", "a\u{1}b", "a\u{1}b\u{2}ARRIVE_TIME\u{1}9\u{2}"),
        ("host:1", "a\u{1}b\u{2}", "a\u{1}b\u{2}ARRIVE_TIME\u{1}9\u{2}"),
        ("[fd00::1]:1", "", "ARRIVE_TIME\u{1}9\u{2}"),
    ] {
        let message = StoredMessage::pushed(&header(born, text), "body".into(), 9);
        assert_eq!(message.properties, expected, "{born}");
        assert_eq!(message.born_host, born.parse().unwrap_or(nowhere));
        assert_eq!(message.sys_flag.contains(SysFlag::BORN_HOST_V6), born.starts_with('['));
        assert_eq!((message.sys_flag.is_compressed(), message.flag, message.queue_id), (true, 7, 2));
        assert_eq!((message.born_timestamp, message.store_timestamp), (5, 6));
        assert_eq!(
            (message.reconsume_times, message.commit_log_offset, &*message.body),
            (0, 0, &b"body"[..])
        );
    }
}

#[test]
fn correlation_ids_are_uuids() {
    for (bits, text) in
        [(0, "00000000-0000-4000-8000-000000000000"), (u128::MAX, "ffffffff-ffff-4fff-bfff-ffffffffffff")]
    {
        let id = CorrelationId::from_random(bits);
        assert_eq!(id.to_string(), text);
        assert_eq!(text.parse(), Ok(id));
        assert_eq!(text.to_uppercase().parse(), Ok(id));
    }
    for bad in [
        "",
        "84dcde7bf56a4d59b22af814155a45ed",
        "84dcde7b-f56a-4d59-b22a-f814155a45e",
        "84dcde7b-f56a-4d59-b22af-814155a45ed",
        "84dcde7b-f56a-4d59-b22a-f814155a45eg",
        "+4dcde7b-f56a-4d59-b22a-f814155a45ed",
        "84dcde7b-f56a-4d59-b22a-f814155a45\u{e9}",
    ] {
        assert!(bad.parse::<CorrelationId>().is_err(), "{bad}");
    }
}
