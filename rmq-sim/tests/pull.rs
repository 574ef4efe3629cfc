//! Pulls, and where queues begin and end. What real brokers answer to the same is in rmq-tokio/tests/conformance.

mod support;

use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::{
    GetMaxOffsetHeader, GetMinOffsetHeader, OffsetResponseHeader, PullMessageHeader, PullResponseHeader,
    PullSysFlag,
};
use rmq_proto::message::{Messages, StoredMessage};
use rmq_sim::model::{Cluster, ClusterConfig, PeerConn, Profile, TopicConfig};
use support::{ask, broker, config, send_header, send_request, with_opaque};

fn header(offset: i64) -> PullMessageHeader<'static> {
    PullMessageHeader {
        consumer_group: "readers".into(),
        topic: "Known".into(),
        queue_id: 0,
        queue_offset: offset,
        max_messages: 100,
        sys_flag: PullSysFlag::SUBSCRIPTION.into(),
        commit_offset: 0,
        suspend_timeout: 0,
        subscription: Some("*".into()),
        subscription_version: 0,
        max_bytes: None,
        expression_type: None,
        request_source: None,
        proxied_client_id: None,
        broker_name: None,
    }
}

/// A broker with so many messages of so many bytes in queue 0 of one topic.
fn cluster_of(config: ClusterConfig, count: usize, body_len: usize) -> (Cluster, PeerConn) {
    let mut cluster = Cluster::new(config);
    cluster.create_topic(&TopicConfig::new("Known", 1));
    let conn = broker(&mut cluster, 0);
    for _ in 0..count {
        let request = send_request(&send_header("Known"), vec![b'x'; body_len]);
        assert_eq!(ask(&mut cluster, conn, &request).only().code, 0);
    }
    (cluster, conn)
}

fn pull(cluster: &mut Cluster, conn: PeerConn, header: &PullMessageHeader<'_>) -> RemotingCommand {
    let request = with_opaque(RemotingCommand::request(RequestCode::PULL_MESSAGE).with_ext(header), 3);
    ask(cluster, conn, &request).only()
}

fn messages(answer: &RemotingCommand) -> Vec<StoredMessage> {
    Messages::new(answer.body.clone()).map(Result::unwrap).collect()
}

/// wire §5.3, §6.1: what is read is what was stored.
#[test]
fn records_are_those_of_the_store() {
    for profile in Profile::ALL {
        let (mut cluster, conn) = cluster_of(config(profile), 3, 1);
        let read = messages(&pull(&mut cluster, conn, &header(1)));
        let stored: Vec<_> = cluster.stored().skip(1).map(|message| message.record()).collect();
        assert_eq!(read, stored, "{profile}");
        assert!(read.iter().all(StoredMessage::crc_matches));
    }
}

/// As many as real brokers give (seen on both): 32, or 256 KiB, and one at least.
#[test]
fn answers_have_an_end() {
    for (body_len, count) in [(10, 32), (20_000, 12), (300_000, 1)] {
        let (mut cluster, conn) = cluster_of(config(Profile::V5_3), 40, body_len);
        let answer = pull(&mut cluster, conn, &header(0));
        assert_eq!(messages(&answer).len(), count, "{body_len}");
        assert_eq!(answer.header::<PullResponseHeader>().unwrap().next_begin_offset, count as i64);
    }
}

/// wire §5.3, §5.4: a queue whose first messages are gone.
#[test]
fn what_is_no_longer_kept_is_not_read() {
    let kept = ClusterConfig { retain: 2, ..config(Profile::V5_3) };
    let (mut cluster, conn) = cluster_of(kept, 5, 1);
    let answer = pull(&mut cluster, conn, &header(2));
    assert_eq!(ResponseCode(answer.code), ResponseCode::PULL_OFFSET_MOVED);
    assert_eq!(answer.remark.as_deref(), Some("OFFSET_TOO_SMALL"));
    let place = answer.header::<PullResponseHeader>().unwrap();
    assert_eq!((place.next_begin_offset, place.min_offset, place.max_offset), (3, 3, 5));
    let offsets: Vec<_> =
        messages(&pull(&mut cluster, conn, &header(3))).iter().map(|read| read.queue_offset).collect();
    assert_eq!(offsets, [3, 4]);
    let min = GetMinOffsetHeader { topic: "Known".into(), queue_id: 0, broker_name: None };
    let max = GetMaxOffsetHeader { topic: "Known".into(), queue_id: 0, committed: None, broker_name: None };
    for (request, offset) in [
        (RemotingCommand::request(RequestCode::GET_MIN_OFFSET).with_ext(&min), 3),
        (RemotingCommand::request(RequestCode::GET_MAX_OFFSET).with_ext(&max), 5),
    ] {
        let answer = ask(&mut cluster, conn, &request).only();
        assert_eq!(answer.header::<OffsetResponseHeader>().unwrap().offset, offset);
    }
}

/// wire §10 row 24: as at a broker that is set up to filter by tags alone.
#[test]
fn conditions_are_refused() {
    let (mut cluster, conn) = cluster_of(config(Profile::V5_3), 1, 1);
    let header = PullMessageHeader {
        expression_type: Some("SQL92".into()),
        subscription: Some("a > 3".into()),
        ..header(0)
    };
    assert_eq!(ResponseCode(pull(&mut cluster, conn, &header).code), ResponseCode::SYSTEM_ERROR);
}
