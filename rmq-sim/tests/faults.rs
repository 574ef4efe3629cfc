//! Misbehaviour on order.

mod support;

use rmq_proto::code::ResponseCode;
use rmq_sim::model::{Cluster, ClusterConfig, Fault};
use support::{ask, broker, ext_names, name_server, route_request, send_header, send_request};

fn cluster() -> (Cluster, String) {
    let cluster = Cluster::new(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
    let address = cluster.broker_address(0).to_owned();
    (cluster, address)
}

#[test]
fn refuse_is_for_new_connections_of_one_address() {
    let (mut cluster, address) = cluster();
    let open = broker(&mut cluster, 0);
    assert!(cluster.fault(&address, Fault::Refuse));
    assert_eq!(cluster.connect(&address), None);
    assert_eq!(cluster.connect("127.0.0.1:1"), None);
    broker(&mut cluster, 1);
    ask(&mut cluster, open, &send_request(&send_header("T"), "x")).only();
    cluster.heal(&address);
    broker(&mut cluster, 0);
    assert_eq!(cluster.open_connections(&address), 2);
}

#[test]
fn a_hanging_peer_takes_everything_and_does_nothing() {
    let (mut cluster, address) = cluster();
    let before = broker(&mut cluster, 0);
    assert!(cluster.fault(&address, Fault::Hang));
    let after = broker(&mut cluster, 0);
    let request = send_request(&send_header("T"), "x");
    for conn in [before, after] {
        let talk = ask(&mut cluster, conn, &request);
        assert_eq!((talk.answers.len(), talk.closed), (0, false));
    }
    let other = broker(&mut cluster, 1);
    ask(&mut cluster, other, &request).only();
    assert_eq!(cluster.stored().count(), 1);
    cluster.heal(&address);
    ask(&mut cluster, before, &request).only();
    assert_eq!(cluster.stored().count(), 2);
}

#[test]
fn a_mute_peer_does_everything_and_says_nothing() {
    let (mut cluster, address) = cluster();
    let before = broker(&mut cluster, 0);
    assert!(cluster.fault(&address, Fault::Mute));
    let after = broker(&mut cluster, 0);
    let request = send_request(&send_header("T"), "x");
    for (conn, stored) in [(before, 1), (after, 2)] {
        let talk = ask(&mut cluster, conn, &request);
        assert_eq!((talk.answers.len(), talk.closed), (0, false));
        assert_eq!(cluster.stored().count(), stored);
    }
    let other = broker(&mut cluster, 1);
    ask(&mut cluster, other, &request).only();
    assert!(cluster.fault(&address, Fault::CloseOnRequest { carried_out: true }));
    assert!(ask(&mut cluster, after, &request).closed);
    cluster.heal(&address);
    ask(&mut cluster, before, &request).only();
    assert_eq!(cluster.stored().count(), 5);
    assert!(cluster.fault(&address, Fault::Mute) && cluster.fault(&address, Fault::Hang));
    ask(&mut cluster, before, &request);
    assert_eq!(cluster.stored().count(), 5);
}

/// wire §4.4: 10, 11 and 12 mean that the message is stored; anything else that it is not.
#[test]
fn codes_of_sends() {
    for (code, stored) in [(2, 0), (14, 0), (999, 0), (10, 2), (11, 2), (12, 2)] {
        let (mut cluster, address) = cluster();
        let conn = broker(&mut cluster, 0);
        let code = ResponseCode(code);
        assert!(cluster.fault(&address, Fault::AnswerSends { count: 2, code, remark: Some("busy".into()) }));
        let request = send_request(&send_header("T"), "x");
        for _ in 0..2 {
            let answer = ask(&mut cluster, conn, &request).only();
            assert_eq!((ResponseCode(answer.code), answer.remark.as_deref()), (code, Some("busy")));
            assert_eq!(ext_names(&answer).len(), if stored == 0 { 2 } else { 6 }, "{code}");
        }
        assert_eq!(cluster.stored().count(), stored, "{code}");
        assert_eq!(ask(&mut cluster, conn, &request).only().code, 0, "{code}");
    }
}

#[test]
fn closing_in_place_of_an_answer() {
    for carried_out in [false, true] {
        let (mut cluster, address) = cluster();
        let conns = [broker(&mut cluster, 0), broker(&mut cluster, 0)];
        assert!(cluster.fault(&address, Fault::CloseOnRequest { carried_out }));
        let request = send_request(&send_header("T"), "x");
        let talk = ask(&mut cluster, conns[0], &request);
        assert_eq!((talk.answers.len(), talk.closed), (0, true));
        assert_eq!(cluster.stored().count(), usize::from(carried_out));
        ask(&mut cluster, conns[1], &request).only();
    }
}

#[test]
fn name_servers_misbehave_too() {
    let (mut cluster, _) = cluster();
    let address = cluster.name_server().to_owned();
    let conn = name_server(&mut cluster);
    assert!(cluster.fault(&address, Fault::CloseOnRequest { carried_out: false }));
    assert!(ask(&mut cluster, conn, &route_request("T")).closed);
}

#[test]
fn a_peer_that_closes_its_connections() {
    let (mut cluster, address) = cluster();
    let conn = broker(&mut cluster, 0);
    broker(&mut cluster, 1);
    cluster.close_connections(&address);
    assert!(support::drain(&mut cluster, conn).closed);
    assert_eq!(cluster.open_connections(&address), 0);
    broker(&mut cluster, 0);
}
