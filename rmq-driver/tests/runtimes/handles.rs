//! How clients end.

use rmq_driver::SendStatus;
use rmq_sim::loopback::Server;
use rmq_sim::model::ClusterConfig;

use super::Host;
use super::place::model;
use super::tools::{client, in_time, message, until};

/// Connections that are open anywhere.
fn open(server: &Server) -> usize {
    server.cluster(|cluster| {
        let brokers = (0..cluster.brokers().len()).map(|index| cluster.broker_address(index));
        let addresses = brokers.chain([cluster.name_server()]);
        addresses.map(|address| cluster.open_connections(address)).sum()
    })
}

pub(crate) fn the_last_one_takes_the_client_with_it<H: Host>(host: &H) {
    let server = model(ClusterConfig::default());
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(server.name_server());
        producer.send(message("x")).await.unwrap();
        assert_eq!(open(&server), 2);
        drop(client);
        // One is left.
        producer.send(message("y")).await.unwrap();
        drop(producer);
        until::<H::Runtime>("the client has closed its connections", || open(&server) == 0).await;
    });
}

pub(crate) fn the_last_one_may_be_dropped_outside_the_runtime<H: Host>(host: &H) {
    let server = model(ClusterConfig::default());
    let handles = host.block_on(async {
        let (client, producer) = client::<H::Runtime>(server.name_server());
        producer.send(message("x")).await.unwrap();
        let never_polled = producer.send(message("never polled"));
        (client, producer, never_polled)
    });
    assert_eq!(open(&server), 2);
    drop(handles);
    host.block_on(until::<H::Runtime>("the client has closed its connections", || open(&server) == 0));
}

pub(crate) fn shutdown_tells_the_brokers<H: Host>(host: &H) {
    let server = model(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
    let known = || server.cluster(|cluster| cluster.registrations().count());
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(server.name_server());
        for _ in 0..16 {
            assert_eq!(producer.send(message("x")).await.unwrap().status, SendStatus::SendOk);
        }
        until::<H::Runtime>("both brokers know the client", || known() == 2).await;
        in_time::<H::Runtime, _>("shutdown", client.shutdown()).await.unwrap();
        assert_eq!(known(), 0);
        until::<H::Runtime>("all is closed", || open(&server) == 0).await;
    });
}
