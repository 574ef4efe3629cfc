//! IPv6, end to end over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing step fails the test; a skipped one says so"
)]

use std::net::{IpAddr, Ipv6Addr, TcpListener};

use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::ClusterConfig;
use rmq_tokio::{Client, Message, SendStatus};

/// Case B9: name servers and brokers at addresses with colons.
#[tokio::test]
async fn b9_name_servers_and_brokers_at_ipv6_addresses() {
    let host = IpAddr::from(Ipv6Addr::LOCALHOST);
    if TcpListener::bind((host, 0)).is_err() {
        eprintln!("SKIPPED IPv6: this machine has no [::1]");
        return;
    }
    let cluster = ClusterConfig { host, brokers: 2, port: 0, ..ClusterConfig::default() };
    let server = Server::start(ServerConfig { cluster, ..ServerConfig::default() }).unwrap();
    let port = server.name_server().port();
    for name_server in [format!("[::1]:{port}"), format!("::1:{port}"), format!("[0:0:0:0:0:0:0:1]:{port}")] {
        let client = Client::builder().name_server(&name_server).start().unwrap();
        let producer = client.producer("group").unwrap();
        let mut brokers = Vec::new();
        for _ in 0..16 {
            let sent = producer.send(Message::new("orders", "x")).await.unwrap();
            assert_eq!((sent.status, sent.attempts), (SendStatus::SendOk, 1), "{name_server}");
            brokers.push(sent.queue.broker);
        }
        brokers.sort();
        brokers.dedup();
        assert_eq!(brokers.len(), 2, "{name_server}");
        client.shutdown().await.unwrap();
    }
}
