//! What a broker answers to sends: a row per rule, on both profiles.

mod support;

use rmq_proto::code::ResponseCode;
use rmq_proto::header::SendMessageV2Header;
use rmq_sim::model::{Cluster, Profile, TopicConfig};
use support::{ask, broker, config, oneway, send_header, send_request};

type Header = SendMessageV2Header<'static>;

/// One rule: a header that is changed, a body, and what 4.9.7 and 5.3.3 answer to it.
struct Row {
    rule: &'static str,
    header: fn(&mut Header),
    body: &'static [u8],
    codes: [ResponseCode; 2],
    /// Has to be in the remark; empty: there is no remark.
    remark: &'static str,
}

const OK: [ResponseCode; 2] = [ResponseCode::SUCCESS; 2];
const ILLEGAL: [ResponseCode; 2] = [ResponseCode::SYSTEM_ERROR, ResponseCode::INVALID_PARAMETER];
const BODY: &[u8] = b"hello";
static LARGEST: [u8; 4 * 1024 * 1024] = [b'x'; 4 * 1024 * 1024];
static TOO_LARGE: [u8; 4 * 1024 * 1024 + 1] = [b'x'; 4 * 1024 * 1024 + 1];

fn properties_of(header: &mut Header, len: usize) {
    let fixed = "UNIQ_KEY\u{1}AA\u{2}k\u{1}\u{2}".len();
    header.properties = Some(format!("UNIQ_KEY\u{1}AA\u{2}k\u{1}{}\u{2}", "v".repeat(len - fixed)).into());
}

const ROWS: &[Row] = &[
    Row { rule: "wire §5.1: a send is stored", header: |_| {}, body: BODY, codes: OK, remark: "" },
    Row {
        rule: "wire §5.1: properties may be absent",
        header: |h| h.properties = None,
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row {
        rule: "wire §5.1: a negative queue is chosen by the broker",
        header: |h| h.queue_id = -1,
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row { rule: "wire §5.1: the last queue", header: |h| h.queue_id = 3, body: BODY, codes: OK, remark: "" },
    Row {
        rule: "wire §5.1: one queue too far",
        header: |h| h.queue_id = 4,
        body: BODY,
        codes: ILLEGAL,
        remark: "request queueId[4] is illegal, TopicConfig [topicName=Known, readQueueNums=4, writeQueueNums=4, \
                 perm=RW-, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false",
    },
    Row {
        rule: "wire §5.1: no body; 4.9.7 stores it",
        header: |_| {},
        body: b"",
        codes: [ResponseCode::SUCCESS, ResponseCode::SYSTEM_ERROR],
        remark: "?java.lang.NullPointerException",
    },
    Row { rule: "wire §1.2: the largest body", header: |_| {}, body: &LARGEST, codes: OK, remark: "" },
    Row {
        rule: "wire §1.2: a larger body",
        header: |_| {},
        body: &TOO_LARGE,
        codes: [ResponseCode::MESSAGE_ILLEGAL; 2],
        remark: "the message is illegal",
    },
    Row {
        rule: "wire §6.4: 32,767 bytes of properties, with the 62 that 5.3.3 adds",
        header: |h| properties_of(h, 32_705),
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row {
        rule: "wire §6.4: one byte more is too many for 5.3.3",
        header: |h| properties_of(h, 32_706),
        body: BODY,
        codes: [ResponseCode::SUCCESS, ResponseCode::MESSAGE_ILLEGAL],
        remark: "?the message is illegal",
    },
    Row {
        rule: "wire §6.4: 32,767 bytes of properties, with the 22 that 4.9.7 adds",
        header: |h| properties_of(h, 32_745),
        body: BODY,
        codes: [ResponseCode::SUCCESS, ResponseCode::MESSAGE_ILLEGAL],
        remark: "?the message is illegal",
    },
    Row {
        rule: "wire §6.4: properties that are too long by themselves",
        header: |h| properties_of(h, 32_766),
        body: BODY,
        codes: [ResponseCode::MESSAGE_ILLEGAL; 2],
        remark: "the message is illegal",
    },
    Row {
        rule: "wire §7.1: a character that no topic has",
        header: |h| h.topic = "T$".into(),
        body: BODY,
        codes: ILLEGAL,
        remark: "illegal characters",
    },
    Row {
        rule: "wire §7.1: a blank topic",
        header: |h| h.topic = " ".into(),
        body: BODY,
        codes: ILLEGAL,
        remark: "The specified topic is blank.",
    },
    Row {
        rule: "wire §7.1: 127 characters",
        header: |h| h.topic = "t".repeat(127).into(),
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row {
        rule: "wire §7.1: 128 characters, of a retry topic too",
        header: |h| h.topic = format!("%RETRY%{}", "g".repeat(121)).into(),
        body: BODY,
        codes: ILLEGAL,
        remark: "longer than topic max length",
    },
    Row {
        rule: "wire §7.1: topics that are not for sending",
        header: |h| h.topic = "SCHEDULE_TOPIC_XXXX".into(),
        body: BODY,
        codes: [ResponseCode::NO_PERMISSION; 2],
        remark: "Sending message to topic[SCHEDULE_TOPIC_XXXX] is forbidden.",
    },
    Row {
        rule: "wire §7.1: TBW102 is for sending",
        header: |h| h.topic = "TBW102".into(),
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row {
        rule: "seen on both: the topic's permission is not looked at",
        header: |h| h.topic = "ReadOnly".into(),
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row {
        rule: "seen on both: a queue that is only read will do",
        header: |h| (h.topic, h.queue_id) = ("Shrunk".into(), 7),
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row {
        rule: "seen on both: no queue to choose from",
        header: |h| (h.topic, h.queue_id) = ("Closed".into(), -1),
        body: BODY,
        codes: [ResponseCode::SYSTEM_ERROR; 2],
        remark: "java.lang.ArithmeticException",
    },
    Row {
        rule: "wire §5.1: an unknown topic comes into being",
        header: |h| h.topic = "New".into(),
        body: BODY,
        codes: OK,
        remark: "",
    },
    Row {
        rule: "wire §5.1: with no queue if none is asked for",
        header: |h| (h.topic, h.default_topic_queue_nums) = ("New".into(), 0),
        body: BODY,
        codes: ILLEGAL,
        remark: "request queueId[0] is illegal, TopicConfig [topicName=New, readQueueNums=0, writeQueueNums=0",
    },
    Row {
        rule: "wire §2.5: a topic without the inherit bit lends nothing",
        header: |h| (h.topic, h.default_topic) = ("New".into(), "Known".into()),
        body: BODY,
        codes: [ResponseCode::TOPIC_NOT_EXIST; 2],
        remark: "topic[New] not exist, apply first please!\nSee http",
    },
    Row {
        rule: "wire §5.1: a default topic that does not exist",
        header: |h| (h.topic, h.default_topic) = ("New".into(), "Nowhere".into()),
        body: BODY,
        codes: [ResponseCode::TOPIC_NOT_EXIST; 2],
        remark: "topic[New] not exist, apply first please!\nSee http",
    },
    Row {
        rule: "wire §7.2: a retry topic needs no default topic",
        header: |h| (h.topic, h.default_topic) = ("%RETRY%g".into(), "Nowhere".into()),
        body: BODY,
        codes: OK,
        remark: "",
    },
];

fn cluster(profile: Profile) -> Cluster {
    let mut cluster = Cluster::new(config(profile));
    cluster.create_topic(&TopicConfig::new("Known", 4));
    cluster.create_topic(&TopicConfig { perm: 4, ..TopicConfig::new("ReadOnly", 4) });
    cluster.create_topic(&TopicConfig { read_queue_nums: 8, ..TopicConfig::new("Shrunk", 4) });
    cluster.create_topic(&TopicConfig { write_queue_nums: 0, ..TopicConfig::new("Closed", 4) });
    cluster
}

#[test]
fn each_rule_on_each_profile() {
    for row in ROWS {
        for (profile, code) in Profile::ALL.into_iter().zip(row.codes) {
            let mut header = send_header("Known");
            (row.header)(&mut header);
            let mut cluster = cluster(profile);
            let conn = broker(&mut cluster, 0);
            let request = send_request(&header, row.body);
            let answer = ask(&mut cluster, conn, &request).only();
            let case = format!("{}, {profile}: {answer:?}", row.rule);
            assert_eq!(ResponseCode(answer.code), code, "{case}");
            assert_eq!((answer.opaque, answer.flag), (11, 1), "{case}");
            let stored: Vec<_> = cluster.stored().collect();
            if code == ResponseCode::SUCCESS {
                assert_eq!((answer.remark.as_deref(), stored.len()), (None, 1), "{case}");
                assert_eq!(stored[0].body, row.body, "{case}");
            } else {
                let expected = row.remark.trim_start_matches('?');
                assert!(answer.remark.as_deref().is_some_and(|remark| remark.contains(expected)), "{case}");
                assert_eq!(stored.len(), 0, "{case}");
            }
            // The same as a one-way request: the same is stored, and nothing is answered (wire §1.4).
            let mut cluster = self::cluster(profile);
            let conn = broker(&mut cluster, 0);
            assert_eq!(ask(&mut cluster, conn, &oneway(request)).answers, [], "{case}");
            assert_eq!(cluster.stored().count(), usize::from(code == ResponseCode::SUCCESS), "{case}");
        }
    }
}
