//! The record of requests.

mod support;

use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_sim::model::{Cluster, ClusterConfig, Fault, ModelEvent, PeerConn, SendSummary};
use support::{
    NOW, ask, broker, encoded, name_server, oneway, route_request, say, send_header, send_request,
    with_opaque,
};

fn watched() -> Cluster {
    let mut cluster = Cluster::new(ClusterConfig::default());
    cluster.watch_requests(true);
    cluster
}

/// Code of the request, one-way or not, code of the answer, and what was sent.
type Seen = (RequestCode, bool, Option<ResponseCode>, Option<SendSummary>);

/// The requests that were told of, all of them on `conn`.
fn requests(cluster: &mut Cluster, conn: PeerConn) -> Vec<Seen> {
    std::iter::from_fn(|| cluster.poll_event())
        .filter_map(|event| match event {
            ModelEvent::Requested { conn: of, code, oneway, answered, send, .. } => {
                assert_eq!(of, conn);
                Some((code, oneway, answered, send))
            }
            _ => None,
        })
        .collect()
}

fn sent(topic: &str, queue_id: i32, stored: Option<u64>) -> Option<SendSummary> {
    Some(SendSummary { topic: topic.into(), queue_id, unique_key: Some("AA".into()), stored })
}

const SEND: RequestCode = RequestCode::SEND_MESSAGE_V2;

#[test]
fn nothing_is_told_unless_asked_for() {
    let mut cluster = Cluster::new(ClusterConfig::default());
    let conn = broker(&mut cluster, 0);
    let request = send_request(&send_header("T"), "x");
    for on in [false, true, false] {
        cluster.watch_requests(on);
        ask(&mut cluster, conn, &request).only();
        assert_eq!(requests(&mut cluster, conn).len(), usize::from(on));
    }
}

#[test]
fn who_asked_what() {
    let mut cluster = watched();
    let (ns, conn) = (name_server(&mut cluster), broker(&mut cluster, 0));
    ask(&mut cluster, ns, &route_request("nix")).only();
    ask(&mut cluster, conn, &send_request(&send_header("T"), "x")).only();
    let told: Vec<_> = std::iter::from_fn(|| cluster.poll_event())
        .filter(|event| matches!(event, ModelEvent::Requested { .. }))
        .collect();
    let requested = |conn, peer: &str, code, opaque, answered, send| ModelEvent::Requested {
        conn,
        peer: peer.into(),
        code,
        opaque,
        oneway: false,
        answered: Some(answered),
        send,
    };
    let expected = [
        requested(
            ns,
            "name server",
            RequestCode::GET_ROUTEINFO_BY_TOPIC,
            7,
            ResponseCode::TOPIC_NOT_EXIST,
            None,
        ),
        requested(conn, "broker-a", SEND, 11, ResponseCode::SUCCESS, sent("T", 0, Some(0))),
    ];
    assert_eq!(told, expected);
    let lines: Vec<_> = told.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "name server: connection 0 asked GET_ROUTEINFO_BY_TOPIC (105), opaque 7; answered TOPIC_NOT_EXIST (17)",
            "broker-a: connection 1 asked SEND_MESSAGE_V2 (310), opaque 11, topic T, queue 0, AA, stored; \
             answered SUCCESS (0)",
        ]
    );
}

#[test]
fn what_became_of_sends() {
    let mut cluster = watched();
    let conn = broker(&mut cluster, 0);
    let mut any_queue = send_header("T");
    any_queue.queue_id = -1;
    let mut no_key = send_header("T");
    no_key.properties = None;
    let mut broken = send_request(&send_header("T"), "x");
    broken.ext.insert("e", "zz");
    let without_key = SendSummary { topic: "T".into(), queue_id: 0, unique_key: None, stored: Some(2) };
    let (ok, bad, error) =
        (ResponseCode::SUCCESS, ResponseCode::INVALID_PARAMETER, ResponseCode::SYSTEM_ERROR);
    let rows = [
        (send_request(&any_queue, "x"), (SEND, false, Some(ok), sent("T", -1, Some(0)))),
        (oneway(send_request(&send_header("T"), "x")), (SEND, true, None, sent("T", 0, Some(1)))),
        (send_request(&no_key, "x"), (SEND, false, Some(ok), Some(without_key))),
        (send_request(&send_header("T$"), "x"), (SEND, false, Some(bad), sent("T$", 0, None))),
        (broken, (SEND, false, Some(error), None)),
        (
            RemotingCommand::request(999),
            (RequestCode(999), false, Some(ResponseCode::REQUEST_CODE_NOT_SUPPORTED), None),
        ),
    ];
    for (request, expected) in rows {
        ask(&mut cluster, conn, &request);
        assert_eq!(requests(&mut cluster, conn), [expected]);
    }
}

/// A send whose message the broker did not even keep was stored all the same.
#[test]
fn stored_and_not_kept() {
    let mut cluster = Cluster::new(ClusterConfig { retain: 0, ..ClusterConfig::default() });
    cluster.watch_requests(true);
    let conn = broker(&mut cluster, 0);
    ask(&mut cluster, conn, &send_request(&send_header("T"), "x")).only();
    assert_eq!(
        requests(&mut cluster, conn),
        [(SEND, false, Some(ResponseCode::SUCCESS), sent("T", 0, Some(0)))]
    );
}

/// Faults show: what was carried out without an answer, and what was not carried out.
#[test]
fn requests_under_faults() {
    let forced = |code| Fault::AnswerSends { count: 1, code, remark: None };
    let (busy, slow) = (ResponseCode::SYSTEM_BUSY, ResponseCode::FLUSH_DISK_TIMEOUT);
    for (fault, answered, stored) in [
        (Fault::Hang, None, None),
        (Fault::Mute, None, Some(0)),
        (Fault::CloseOnRequest { carried_out: false }, None, None),
        (Fault::CloseOnRequest { carried_out: true }, None, Some(0)),
        (forced(busy), Some(busy), None),
        (forced(slow), Some(slow), Some(0)),
    ] {
        let mut cluster = watched();
        let address = cluster.broker_address(0).to_owned();
        let conn = broker(&mut cluster, 0);
        assert!(cluster.fault(&address, fault.clone()));
        ask(&mut cluster, conn, &send_request(&send_header("T"), "x"));
        assert_eq!(
            requests(&mut cluster, conn),
            [(SEND, false, answered, sent("T", 0, stored))],
            "{fault:?}"
        );
    }
}

/// Causes come before what they end: the topic, the request, the connection.
#[test]
fn order_of_events() {
    let mut cluster = watched();
    let address = cluster.broker_address(0).to_owned();
    let conn = broker(&mut cluster, 0);
    assert!(cluster.fault(&address, Fault::CloseOnRequest { carried_out: true }));
    ask(&mut cluster, conn, &send_request(&send_header("New"), "x"));
    let order: Vec<_> = std::iter::from_fn(|| cluster.poll_event())
        .map(|event| match event {
            ModelEvent::Connected { .. } => "connected",
            ModelEvent::TopicCreated { .. } => "topic",
            ModelEvent::Requested { .. } => "requested",
            ModelEvent::Disconnected { .. } => "disconnected",
            _ => "other",
        })
        .collect();
    assert_eq!(order, ["connected", "topic", "requested", "disconnected"]);
}

#[test]
fn lost_events_are_counted() {
    let mut cluster = watched();
    let ns = name_server(&mut cluster);
    let frames: Vec<u8> = (0..1_500)
        .flat_map(|opaque| encoded(&with_opaque(route_request("TBW102"), opaque), HeaderFormat::Json))
        .collect();
    assert_eq!(say(&mut cluster, ns, frames).answers.len(), 1_500);
    assert_eq!(cluster.lost_events(), 1_501 - 1_024);
    let opaques: Vec<_> = std::iter::from_fn(|| cluster.poll_event())
        .map(|event| match event {
            ModelEvent::Requested { opaque, .. } => opaque,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(opaques, (1_500 - 1_024..1_500).collect::<Vec<_>>());
    cluster.receive(NOW, ns, encoded(&route_request("TBW102"), HeaderFormat::Json));
    assert_eq!((requests(&mut cluster, ns).len(), cluster.lost_events()), (1, 477));
}
