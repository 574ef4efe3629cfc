//! A model that misbehaves.

use std::time::Duration;

use rmq_driver::{Client, Error, Producer, Runtime, SendResult};
use rmq_sim::loopback::Server;
use rmq_sim::model::{ClusterConfig, Fault};

use super::Host;
use super::place::model;
use super::tools::{Tasks, assert_nothing_left, client, in_time, message, until};

fn broker(server: &Server) -> String {
    server.cluster(|cluster| cluster.broker_address(0).to_owned())
}

/// All is connected, and nothing is waited for: no heartbeat, either.
async fn warm_up<R: Runtime + Default>(client: &Client<R>, producer: &Producer) {
    producer.send(message("warm")).await.unwrap();
    until::<R>("it is quiet", || {
        let stats = client.stats();
        (stats.queued, stats.awaited) == (0, 0)
    })
    .await;
}

/// A client with so many sends under way at the only broker, which hangs.
async fn hung<R: Runtime + Default>(
    server: &Server,
    count: usize,
) -> (Client<R>, Producer, Tasks<Result<SendResult, Error>>) {
    let (client, producer) = client::<R>(server.name_server());
    warm_up(&client, &producer).await;
    let broker = broker(server);
    assert!(server.cluster(|cluster| cluster.fault(&broker, Fault::Hang)));
    let sends = Tasks::start::<R, _>((0..count).map(|_| producer.send(message("x"))));
    until::<R>("all are under way", || client.stats().awaited == count).await;
    (client, producer, sends)
}

pub(crate) fn work_that_hangs_is_given_up_at_shutdown<H: Host>(host: &H) {
    let server = model(ClusterConfig::default());
    host.block_on(async {
        let (client, producer, stuck) = hung::<H::Runtime>(&server, 20).await;
        let shutdown = client.shutdown_within(Duration::from_millis(50));
        in_time::<H::Runtime, _>("shutdown", shutdown).await.unwrap();
        for sent in stuck.join::<H::Runtime>().await {
            let error = sent.unwrap_err();
            assert!(error.may_have_been_stored() && !error.is_retryable(), "{error}");
        }
        assert_eq!(producer.send(message("late")).await, Err(Error::ShutDown));
        let stats = client.stats();
        assert_nothing_left(&stats);
        assert_eq!((stats.connections, stats.timers), (0, 0));
    });
}

/// The only broker goes away with sends under way, and stays away until all of them have ended.
pub(crate) fn sends_go_on_when_their_broker_is_back<H: Host>(host: &H) {
    let server = model(ClusterConfig::default());
    let broker = broker(&server);
    host.block_on(async {
        let (client, producer, sends) = hung::<H::Runtime>(&server, 50).await;
        assert!(server.cluster(|cluster| cluster.stop(&broker)));
        for sent in sends.join::<H::Runtime>().await {
            let error = sent.unwrap_err();
            assert!(error.is_retryable() && error.may_have_been_stored(), "{error}");
        }
        server.cluster(|cluster| {
            cluster.heal(&broker);
            assert!(cluster.start(&broker));
        });
        let sends = Tasks::start::<H::Runtime, _>((0..50).map(|_| producer.send(message("y"))));
        assert!(sends.join::<H::Runtime>().await.iter().all(Result::is_ok));
        assert_nothing_left(&client.stats());
    });
}

pub(crate) fn sends_under_way_find_a_broker_that_is_back_at_once<H: Host>(host: &H) {
    let server = model(ClusterConfig::default());
    let broker = broker(&server);
    host.block_on(async {
        let (client, _producer, sends) = hung::<H::Runtime>(&server, 50).await;
        server.cluster(|cluster| {
            assert!(cluster.stop(&broker));
            cluster.heal(&broker);
            assert!(cluster.start(&broker));
        });
        for sent in sends.join::<H::Runtime>().await {
            assert_eq!(sent.unwrap().attempts, 2);
        }
        let stats = client.stats();
        assert_nothing_left(&stats);
        assert_eq!((stats.disconnects, stats.retries), (1, 50));
    });
}
