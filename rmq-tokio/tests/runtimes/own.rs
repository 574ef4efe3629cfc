//! What only tokio has: a time that can be moved, and runtimes that end.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use rmq_sim::memory::ModelNetwork;
use rmq_sim::model::ClusterConfig;
use rmq_tokio::{Client, Error, ProducerConfig, Runtime, StartError, Tokio};
use tokio::task::JoinSet;

use crate::suite::peer::{Peer, Then};
use crate::suite::place::model;
use crate::suite::tools::{PATIENCE, assert_nothing_left, client, message, until};

fn current_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[tokio::test]
async fn two_thousand_sends_at_once_in_memory() {
    let tokio = Tokio::default();
    let config = ClusterConfig { retain: 2_000, brokers: 3, ..ClusterConfig::default() };
    let model = ModelNetwork::new(config, move || tokio.unix_ms());
    let name_server = model.cluster(|cluster| cluster.name_server().to_owned());
    let client = Client::builder().name_server(&name_server).start_on(model.runtime(tokio)).unwrap();
    let producer = client.producer_with(ProducerConfig::new("group").send_timeout(PATIENCE)).unwrap();
    let sends: JoinSet<_> = (0..2_000_u16).map(|number| producer.send(message(number.to_string()))).collect();
    let ids: BTreeSet<_> = sends.join_all().await.into_iter().map(|sent| sent.unwrap().message_id).collect();
    assert_eq!(ids.len(), 2_000);
    client.shutdown().await.unwrap();
    assert_nothing_left(&client.stats());
    assert_eq!(model.cluster(|cluster| cluster.stored().count()), 2_000);
}

#[tokio::test]
async fn a_client_suspended_for_5_s_loses_no_answer_that_waits() {
    let peer = Peer::new(|_, request| if &*request.body == b"warm" { Then::Answer } else { Then::Keep });
    let (client, producer) = client::<Tokio>(&peer.address);
    producer.send(message("warm")).await.unwrap();
    assert_eq!(peer.sends.recv().unwrap(), (0, 4));
    let hurried =
        ProducerConfig::new("hurried").attempts(NonZeroU32::MIN).send_timeout(Duration::from_secs(4));
    let producer = client.producer_with(hurried).unwrap();
    let mut sends = JoinSet::new();
    for i in 0..100 {
        sends.spawn(producer.send(message(format!("{i}"))));
    }
    let mut seen = 0;
    until::<Tokio>("all are with the broker", || {
        seen += peer.sends.try_iter().count();
        seen == 100
    })
    .await;
    // The test does not let go of the runtime's only thread: answers come, time passes, and nobody looks.
    assert_eq!(peer.release(), 100);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(5)).await;
    tokio::time::resume();
    for sent in sends.join_all().await {
        assert_eq!(sent.unwrap().attempts, 1);
    }
    assert_eq!(client.stats().retries, 0);
}

#[test]
fn a_client_outlives_its_runtime_in_peace() {
    let server = model(ClusterConfig::default());
    let runtime = current_thread();
    let (client, producer) = runtime.block_on(async {
        let (client, producer) = client::<Tokio>(server.name_server());
        producer.send(message("x")).await.unwrap();
        (client, producer)
    });
    drop(runtime);
    let after = current_thread();
    let late = producer.send(message("late"));
    assert_eq!(after.block_on(late).unwrap_err(), Error::ShutDown);
    assert_eq!(after.block_on(client.shutdown()), Err(Error::TaskLost));
}

#[test]
fn starting_outside_a_runtime_is_an_error_that_says_what_to_do() {
    let error = Client::builder().name_server("127.0.0.1:9876").start().unwrap_err();
    assert!(matches!(error, StartError::Spawn(_)));
    assert!(error.to_string().contains("call start() within"), "{error}");
}
