//! Servers that shut down and send their clients away (wire §9.4).

mod support;

use std::time::Duration;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::{FLAG_ONEWAY, RemotingCommand};
use rmq_sim::World;
use rmq_sim::model::{Cluster, Fault, Profile};
use rmq_sim::net::NetworkConfig;
use support::{ask, broker, config, name_server, route_request, send_header, send_request};

const SECOND: Duration = Duration::from_secs(1);

fn address(cluster: &Cluster) -> String {
    cluster.broker_address(0).to_owned()
}

fn send(version: i32) -> RemotingCommand {
    RemotingCommand { version, ..send_request(&send_header("T"), "x") }
}

#[test]
fn a_draining_process_does_nothing_and_says_so() {
    for profile in Profile::ALL {
        let mut cluster = Cluster::new(config(profile));
        let address = address(&cluster);
        let (old, idle) = (broker(&mut cluster, 0), broker(&mut cluster, 0));
        assert!(cluster.drain(&address));
        let fresh = broker(&mut cluster, 0);
        let answer = ask(&mut cluster, old, &send(479)).only();
        let (expected, stored) = match profile {
            Profile::V4_9 => (ResponseCode::SUCCESS, 1),
            Profile::V5_3 => (ResponseCode::GO_AWAY, 0),
        };
        assert_eq!(ResponseCode(answer.code), expected, "{profile}");
        assert_eq!(cluster.stored().count(), stored, "{profile}");
        assert_eq!(
            ask(&mut cluster, fresh, &send(479)).only().code,
            0,
            "{profile}: new connections are served"
        );
        cluster.disconnect(idle);
        cluster.end_drain(&address);
        assert!(support::drain(&mut cluster, old).closed, "{profile}");
        assert_eq!(cluster.open_connections(&address), 1, "{profile}");
    }
}

/// Clients of 5.3.1 and before are served to the end (wire §1.6); nobody is told about one-way requests.
#[test]
fn whom_it_tells() {
    for (version, code) in [(475, ResponseCode::SUCCESS), (477, ResponseCode::GO_AWAY)] {
        let mut cluster = Cluster::new(config(Profile::V5_3));
        let address = address(&cluster);
        let conn = broker(&mut cluster, 0);
        assert!(cluster.drain(&address));
        assert_eq!(ResponseCode(ask(&mut cluster, conn, &send(version)).only().code), code, "{version}");
    }
    let mut cluster = Cluster::new(config(Profile::V5_3));
    let address = address(&cluster);
    let conn = broker(&mut cluster, 0);
    assert!(cluster.drain(&address));
    let oneway = RemotingCommand { flag: FLAG_ONEWAY, ..send(479) };
    assert_eq!(ask(&mut cluster, conn, &oneway).answers, []);
    assert_eq!(cluster.stored().count(), 0);
}

#[test]
fn a_server_that_sends_everybody_away() {
    let mut cluster = Cluster::new(config(Profile::V5_3));
    let server = cluster.name_server().to_owned();
    assert!(cluster.fault(&server, Fault::GoAway));
    let conn = name_server(&mut cluster);
    assert_eq!(ask(&mut cluster, conn, &route_request("T")).only().code, ResponseCode::GO_AWAY.0);
    cluster.heal(&server);
    assert_ne!(ask(&mut cluster, conn, &route_request("T")).only().code, ResponseCode::GO_AWAY.0);
    assert!(!cluster.drain("127.0.0.1:1"));
    assert!(cluster.stop(&server) && !cluster.drain(&server));
}

/// A user sees nothing of a broker that drains: no failure, no retry, no copy.
#[test]
fn users_see_nothing_of_a_broker_that_drains() {
    for seed in 0..5 {
        let world = World::with_network(seed, NetworkConfig::default());
        let broker = world.broker("broker-a");
        for start in [2, 4, 6, 8] {
            broker.drain(start * SECOND..start * SECOND + SECOND);
        }
        let outcome = world.run(async |client| {
            let (producer, sim) = (client.producer("group").unwrap(), world.runtime());
            for number in 0..100 {
                let sent =
                    producer.send(rmq_driver::Message::new("orders", format!("{number}"))).await.unwrap();
                assert_eq!(sent.attempts, 1, "seed {seed}, message {number}");
                sim.sleep(SECOND / 10).await;
            }
            client.stats()
        });
        assert_eq!(outcome.stored().count(), 100, "seed {seed}");
        let stats = outcome.value;
        assert!(stats.go_aways >= 4 && stats.retries == 0, "seed {seed}: {stats:?}");
    }
}
