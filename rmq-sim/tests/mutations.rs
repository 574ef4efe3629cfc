//! The deliberate bugs of the model broker do what their names say.

#![cfg(rmq_mutate)]

mod support;

use rmq_core::mutate::{self, Mutation};
use rmq_proto::code::ResponseCode;
use rmq_proto::header::SendResponseHeader;
use rmq_sim::model::{Cluster, Profile, TopicConfig};
use support::{ask, broker, config, send_header, send_request};

/// Of 200 sends: the answers of success, the messages stored, the different offsets told. An offset that was told of a lost
/// message is told again of the next.
fn send_200(mutation: Option<Mutation>) -> (usize, usize, usize) {
    mutate::set(mutation);
    let mut cluster = Cluster::new(config(Profile::V5_3));
    cluster.create_topic(&TopicConfig::new("Known", 4));
    let conn = broker(&mut cluster, 0);
    let (mut successes, mut offsets) = (0, std::collections::BTreeSet::new());
    for _ in 0..200 {
        let answer = ask(&mut cluster, conn, &send_request(&send_header("Known"), "x")).only();
        successes += usize::from(answer.code == ResponseCode::SUCCESS.0);
        offsets.insert(answer.header::<SendResponseHeader<'_>>().expect("a send's answer").queue_offset);
    }
    mutate::set(None);
    (successes, cluster.stored().count(), offsets.len())
}

/// In one test: a bug is on for the whole process.
#[test]
fn a_broker_loses_and_doubles_messages() {
    assert_eq!(send_200(None), (200, 200, 200));
    assert_eq!(send_200(Some(Mutation::ModelStoresNothing)), (200, 196, 197));
    assert_eq!(send_200(Some(Mutation::ModelStoresTwice)), (200, 204, 200));
    assert_eq!(send_200(Some(Mutation::EndTwice)), (200, 200, 200), "that one is the client's");
}
