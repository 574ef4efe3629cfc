//! Transactions: the model's rules. Clients that go through all of it are in `world_transactions.rs`.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::time::Duration;

use rmq_proto::body::HeartbeatData;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::{
    CheckTransactionHeader, EndTransactionHeader, SendMessageV2Header, SendResponseHeader,
};
use rmq_proto::id::OffsetMessageId;
use rmq_proto::message::{RecordVersion, StoredMessage as Record};
use rmq_proto::properties::{
    PGROUP, REAL_QID, REAL_TOPIC, TRAN_MSG, TRANSACTION_CHECK_TIMES, TRANSACTION_ID, WAIT,
};
use rmq_sim::model::{
    Cluster, ClusterConfig, Fault, ModelEvent, PeerConn, Profile, StoredMessage, TopicConfig,
};
use support::{NOW, Talk, ask, broker, config, drain, oneway, send_header, send_request, with_opaque};

const HALF_TOPIC: &str = "RMQ_SYS_TRANS_HALF_TOPIC";
const GIVEN_UP_TOPIC: &str = "TRANS_CHECK_MAX_TIME_TOPIC";
/// The first round of questions after [`NOW`], and the one after it.
const ROUND: u64 = NOW + 10_000;
const NEXT_ROUND: u64 = NOW + 40_000;
const SECOND: Duration = Duration::from_secs(1);

fn half_header() -> SendMessageV2Header<'static> {
    let properties = "PGROUP\u{1}group\u{2}TRAN_MSG\u{1}true\u{2}UNIQ_KEY\u{1}AA\u{2}WAIT\u{1}true\u{2}";
    SendMessageV2Header {
        queue_id: 3,
        sys_flag: 4,
        born_timestamp: NOW as i64,
        properties: Some(properties.into()),
        ..send_header("Known")
    }
}

/// A cluster with one half message, and the answer to it. Its producer is registered.
fn cluster_of(config: ClusterConfig) -> (Cluster, PeerConn, RemotingCommand) {
    let mut cluster = Cluster::new(config);
    cluster.create_topic(&TopicConfig::new("Known", 4));
    let conn = broker(&mut cluster, 0);
    register(&mut cluster, conn);
    let answer = ask(&mut cluster, conn, &send_request(&half_header(), "x")).only();
    assert_eq!(answer.code, 0);
    (cluster, conn, answer)
}

fn register(cluster: &mut Cluster, conn: PeerConn) {
    let heartbeat = HeartbeatData {
        client_id: "client".into(),
        producers: vec!["group".into()],
        consumers: Vec::new(),
        fingerprint: 0,
        without_sub: false,
    };
    let beat = RemotingCommand::request(RequestCode::HEART_BEAT).with_body(heartbeat.encode());
    assert_eq!(ask(cluster, conn, &beat).only().code, 0);
}

fn offset_of(answer: &SendResponseHeader<'_>) -> i64 {
    answer.message_id.parse::<OffsetMessageId>().unwrap().offset
}

fn end_header(answer: &RemotingCommand, number: i32) -> EndTransactionHeader<'static> {
    let header: SendResponseHeader<'_> = answer.header().unwrap();
    EndTransactionHeader {
        producer_group: "group".into(),
        transaction_offset: header.queue_offset,
        commit_log_offset: offset_of(&header),
        commit_or_rollback: number,
        from_check: Some(false),
        message_id: "AA".into(),
        transaction_id: None,
        topic: Some("Known".into()),
        broker_name: Some("broker-a".into()),
    }
}

fn end(header: &EndTransactionHeader<'_>) -> RemotingCommand {
    with_opaque(RemotingCommand::request(RequestCode::END_TRANSACTION).with_ext(header), 13)
}

fn of_topic<'c>(cluster: &'c Cluster, topic: &'c str) -> Vec<&'c StoredMessage> {
    cluster.stored().filter(|message| &*message.topic == topic).collect()
}

/// wire §5.1, §5.15: where consumers cannot see it, with what the broker needs to put it there.
#[test]
fn a_half_message_is_hidden() {
    for profile in Profile::ALL {
        let (cluster, _, answer) = cluster_of(config(profile));
        assert_eq!(of_topic(&cluster, "Known"), Vec::<&StoredMessage>::new());
        let half = of_topic(&cluster, HALF_TOPIC)[0];
        assert!(half.is_half());
        assert_eq!((half.queue_id, half.sys_flag, half.queue_offset), (0, 0, 0), "{profile}");
        assert_eq!((half.property(REAL_TOPIC), half.property(REAL_QID)), (Some("Known"), Some("3")));
        assert_eq!((half.property(TRAN_MSG), half.property(WAIT)), (Some("true"), Some("true")), "{profile}");
        let id = half.property(TRANSACTION_ID);
        assert_eq!(id, (profile == Profile::V5_3).then_some("AA"), "wire §6.4");
        let header: SendResponseHeader<'_> = answer.header().unwrap();
        assert_eq!((header.queue_id, header.queue_offset), (3, 0), "the queue that was asked for");
        assert_eq!(offset_of(&header), half.commit_log_offset);
        assert!(cluster.routes().route(HALF_TOPIC).is_none());
    }
}

/// wire §6.1: what a committed message is like.
#[test]
fn a_commit_shows_it() {
    for profile in Profile::ALL {
        let (mut cluster, conn, answer) = cluster_of(config(profile));
        let request = end(&end_header(&answer, 8));
        assert_eq!(ask(&mut cluster, conn, &oneway(request)), Talk::default(), "{profile}");
        let message = of_topic(&cluster, "Known")[0];
        assert_eq!((message.queue_id, message.sys_flag, &*message.body), (3, 8, &b"x"[..]));
        assert_eq!(message.prepared_transaction_offset, 0, "{profile}: the half message is the first one");
        for name in [TRAN_MSG, PGROUP, REAL_TOPIC, REAL_QID] {
            assert!(message.property(name).is_some(), "{profile}: {name}");
        }
        assert_eq!(cluster.next_delivery(), None, "{profile}");
        cluster.advance(ROUND);
        assert_eq!(drain(&mut cluster, conn), Talk::default(), "{profile}: nothing to ask");
    }
}

#[test]
fn a_rollback_does_not() {
    let (mut cluster, conn, answer) = cluster_of(ClusterConfig::default());
    assert_eq!(ask(&mut cluster, conn, &end(&end_header(&answer, 12))).only().code, 0);
    cluster.advance(NEXT_ROUND);
    assert_eq!(drain(&mut cluster, conn), Talk::default());
    assert!(of_topic(&cluster, "Known").is_empty());
}

/// wire §5.14: two-way, so that the code is seen.
#[test]
fn an_end_that_does_not_fit_is_refused() {
    for profile in Profile::ALL {
        let (mut cluster, conn, answer) = cluster_of(config(profile));
        let good = end_header(&answer, 8);
        let rows = [
            (
                EndTransactionHeader { producer_group: "others".into(), ..good.clone() },
                "The producer group wrong",
            ),
            (
                EndTransactionHeader { transaction_offset: 5, ..good.clone() },
                "The transaction state table offset wrong",
            ),
            (
                EndTransactionHeader { commit_log_offset: 5, ..good.clone() },
                "Find prepared transaction message failed",
            ),
        ];
        for (header, remark) in rows {
            let answer = ask(&mut cluster, conn, &end(&header)).only();
            assert_eq!(ResponseCode(answer.code), ResponseCode::SYSTEM_ERROR, "{profile}");
            assert_eq!(answer.remark.as_deref(), Some(remark), "{profile}");
        }
        for number in [0, 5] {
            let header = EndTransactionHeader { commit_or_rollback: number, ..good.clone() };
            assert_eq!(ask(&mut cluster, conn, &end(&header)), Talk::default(), "never answered");
        }
        assert!(of_topic(&cluster, "Known").is_empty());
        assert!(cluster.next_delivery().is_some(), "{profile}: it has no end");
    }
}

/// wire §5.15: it is appended anew before it is asked about.
#[test]
fn a_half_message_without_an_end_is_asked_about() {
    for profile in Profile::ALL {
        let (mut cluster, conn, answer) = cluster_of(config(profile));
        cluster.watch_requests(true);
        while cluster.poll_event().is_some() {}
        assert_eq!(cluster.next_delivery(), Some(ROUND));
        cluster.advance(ROUND - 1);
        assert_eq!(drain(&mut cluster, conn), Talk::default());
        cluster.advance(ROUND);
        let check = drain(&mut cluster, conn).only();
        assert_eq!(RequestCode(check.code), RequestCode::CHECK_TRANSACTION_STATE);
        assert!(check.is_oneway() && !check.is_response());
        let told = cluster.poll_event().unwrap();
        assert!(matches!(told, ModelEvent::Pushed { oneway: true, .. }), "{told}");
        let half = of_topic(&cluster, HALF_TOPIC)[1];
        let sent: SendResponseHeader<'_> = answer.header().unwrap();
        assert_ne!((half.queue_offset, half.commit_log_offset), (sent.queue_offset, offset_of(&sent)));
        let names = profile == Profile::V5_3;
        let header: CheckTransactionHeader<'_> = check.header().unwrap();
        assert_eq!(
            header,
            CheckTransactionHeader {
                topic: names.then(|| HALF_TOPIC.into()),
                transaction_offset: half.queue_offset,
                commit_log_offset: half.commit_log_offset,
                message_id: Some("AA".into()),
                transaction_id: Some("AA".into()),
                offset_message_id: Some(half.offset_id().to_string().into()),
                broker_name: names.then(|| "broker-a".into()),
            }
        );
        let message = Record::decode(&check.body).unwrap();
        assert_eq!((&*message.topic, message.queue_id, message.version), ("Known", 3, RecordVersion::V1));
        assert_eq!((message.sys_flag.0, &*message.body), (0, &b"x"[..]));
        assert_eq!(message.property(TRANSACTION_CHECK_TIMES), Some("1"));
        assert_eq!(message.property(WAIT), Some("false"));
        let answered = EndTransactionHeader {
            transaction_offset: header.transaction_offset,
            commit_log_offset: header.commit_log_offset,
            from_check: Some(true),
            ..end_header(&answer, 8)
        };
        ask(&mut cluster, conn, &oneway(end(&answered)));
        assert_eq!(of_topic(&cluster, "Known").len(), 1, "{profile}");
        assert_eq!(cluster.next_delivery(), None);
    }
}

/// A message that is too young waits for the round after.
#[test]
fn a_young_half_message_is_not_asked_about() {
    let (mut cluster, conn, _) =
        cluster_of(ClusterConfig { transaction_timeout: 11 * SECOND, ..ClusterConfig::default() });
    cluster.advance(ROUND);
    assert_eq!(drain(&mut cluster, conn), Talk::default());
    assert_eq!(cluster.next_delivery(), Some(NEXT_ROUND));
    cluster.advance(NEXT_ROUND);
    drain(&mut cluster, conn).only();
}

#[test]
fn nobody_is_asked_for_ever() {
    let (mut cluster, conn, _) = cluster_of(ClusterConfig {
        transaction_check_max: 3,
        transaction_check_interval: SECOND,
        ..ClusterConfig::default()
    });
    let mut times = Vec::new();
    while let Some(at) = cluster.next_delivery() {
        cluster.advance(at);
        let asked = drain(&mut cluster, conn).answers;
        times.extend(asked.iter().map(|check| {
            let message = Record::decode(&check.body).unwrap();
            message.property(TRANSACTION_CHECK_TIMES).unwrap().to_owned()
        }));
    }
    assert_eq!(times, ["1", "2", "3"]);
    assert_eq!(of_topic(&cluster, GIVEN_UP_TOPIC).len(), 1);
}

#[test]
fn who_is_gone_or_hangs_is_not_heard_of() {
    // Another group, no registration, a broker that hangs.
    let (mut cluster, conn, _) = cluster_of(ClusterConfig::default());
    let address = cluster.broker_address(0).to_owned();
    assert!(cluster.fault(&address, Fault::Hang));
    cluster.advance(ROUND);
    assert_eq!(drain(&mut cluster, conn), Talk::default());
    cluster.heal(&address);
    cluster.disconnect(conn);
    let stranger = broker(&mut cluster, 0);
    cluster.advance(NEXT_ROUND);
    assert_eq!(drain(&mut cluster, stranger), Talk::default());
    register(&mut cluster, stranger);
    cluster.advance(NEXT_ROUND + 30_000);
    let check = drain(&mut cluster, stranger).only();
    let message = Record::decode(&check.body).unwrap();
    assert_eq!(message.property(TRANSACTION_CHECK_TIMES), Some("3"), "each round counts");
}

/// A broker that is down asks nobody, and does when it is back.
#[test]
fn a_broker_that_is_down_does_not_ask() {
    let (mut cluster, _, _) = cluster_of(ClusterConfig::default());
    let address = cluster.broker_address(0).to_owned();
    assert!(cluster.stop(&address));
    assert_eq!(cluster.next_delivery(), None);
    assert!(cluster.start(&address));
    assert_eq!(cluster.next_delivery(), Some(ROUND));
}

/// Half messages whose records are no longer kept are forgotten.
#[test]
fn what_is_not_kept_is_not_asked_about() {
    let (mut cluster, conn, _) = cluster_of(ClusterConfig { retain: 2, ..ClusterConfig::default() });
    for _ in 0..5 {
        ask(&mut cluster, conn, &send_request(&half_header(), "x"));
    }
    cluster.advance(ROUND);
    let talk = drain(&mut cluster, conn);
    assert_eq!(talk.answers.len(), 2);
}
