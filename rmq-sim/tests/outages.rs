//! Several name servers; servers that go down and come back.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use rmq_proto::body::TopicRouteData;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_sim::model::{Cluster, ClusterConfig, Fault, ModelEvent, PeerConn, PeerOutput, Profile, TopicConfig};
use support::{NOW, ask, broker, encoded, name_server, route_request, send_header, send_request};

/// Two name servers, two brokers, and the topic `T` with two queues on both.
fn cluster(profile: Profile) -> Cluster {
    let config = ClusterConfig { name_servers: 2, brokers: 2, profile, ..ClusterConfig::default() };
    let mut cluster = Cluster::new(config);
    cluster.create_topic(&TopicConfig::new("T", 2));
    cluster
}

fn name_servers(cluster: &Cluster) -> Vec<String> {
    cluster.name_server_addresses().map(str::to_owned).collect()
}

fn broker_address(cluster: &Cluster, index: usize) -> String {
    cluster.broker_address(index).to_owned()
}

/// Names of the brokers that a name server routes a topic to, as a client gets them; `None` for an unknown topic.
fn route(cluster: &mut Cluster, name_server: usize, topic: &str) -> Option<Vec<String>> {
    let address = name_servers(cluster)[name_server].clone();
    let conn = cluster.connect(&address).unwrap();
    let answer = ask(cluster, conn, &route_request(topic)).only();
    cluster.disconnect(conn);
    if answer.code == 17 {
        return None;
    }
    let route = TopicRouteData::decode(&answer.body).unwrap();
    let names: Vec<_> = route.queue_datas.into_iter().map(|queues| queues.broker_name).collect();
    let brokers: Vec<_> = route.broker_datas.into_iter().map(|broker| broker.broker_name).collect();
    assert_eq!(names, brokers);
    Some(names)
}

fn routes(cluster: &mut Cluster, topic: &str) -> [Option<Vec<String>>; 2] {
    [0, 1].map(|name_server| route(cluster, name_server, topic))
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|&name| name.to_owned()).collect())
}

fn closed(cluster: &mut Cluster) -> Vec<PeerConn> {
    let outputs = std::iter::from_fn(|| cluster.poll_output());
    outputs
        .map(|output| match output {
            PeerOutput::Close { conn } => conn,
            PeerOutput::Write { .. } => panic!("{output:?}"),
        })
        .collect()
}

fn register_group(cluster: &mut Cluster, conn: PeerConn) {
    let body = r#"{"clientID":"c","producerDataSet":[{"groupName":"makers"}]}"#;
    let request = RemotingCommand::request(RequestCode::HEART_BEAT).with_ext(&()).with_body(body.into());
    assert_eq!(ask(cluster, conn, &request).only().code, 0);
}

#[test]
fn addresses() {
    let address = |config: &ClusterConfig| {
        let cluster = Cluster::new(config.clone());
        let mut all = name_servers(&cluster);
        assert_eq!(all[0], cluster.name_server());
        assert_eq!(all.len(), cluster.name_servers().len());
        all.extend((0..config.brokers).map(|index| broker_address(&cluster, index)));
        all.iter().map(|address| address.strip_prefix("127.0.0.1:").unwrap().parse().unwrap()).collect()
    };
    let two = ClusterConfig { name_servers: 2, brokers: 2, ..ClusterConfig::default() };
    let rows: [(ClusterConfig, &[u16]); 6] = [
        (ClusterConfig { brokers: 2, ..ClusterConfig::default() }, &[9876, 9877, 9878]),
        (ClusterConfig { name_servers: 0, ..ClusterConfig::default() }, &[9876, 9877]),
        (two.clone(), &[9876, 9877, 9878, 9879]),
        (ClusterConfig { broker_ports: vec![7], ..two.clone() }, &[9876, 9877, 7, 9879]),
        (ClusterConfig { more_name_server_ports: vec![7], ..two.clone() }, &[9876, 7, 9878, 9879]),
        (ClusterConfig { port: 65_534, ..two }, &[65_534, 65_535, 0, 1]),
    ];
    for (config, expected) in rows {
        let ports: Vec<u16> = address(&config);
        assert_eq!(ports, expected, "{config:?}");
    }
}

#[test]
fn all_name_servers_know_all_that_is_created() {
    for profile in Profile::ALL {
        let mut cluster = cluster(profile);
        let both = names(&["broker-a", "broker-b"]);
        assert_eq!(routes(&mut cluster, "T"), [both.clone(), both], "{profile}");
        let conn = broker(&mut cluster, 1);
        ask(&mut cluster, conn, &send_request(&send_header("New"), "x")).only();
        let one = names(&["broker-b"]);
        assert_eq!(routes(&mut cluster, "New"), [one.clone(), one], "{profile}");
    }
}

/// The process is gone: so are its connections, their groups and its routes. The disk is not.
#[test]
fn a_broker_stops_and_starts() {
    for profile in Profile::ALL {
        let mut cluster = cluster(profile);
        let address = broker_address(&cluster, 1);
        let (first, second, other) =
            (broker(&mut cluster, 1), broker(&mut cluster, 1), broker(&mut cluster, 0));
        register_group(&mut cluster, first);
        register_group(&mut cluster, other);
        for topic in ["T", "Only"] {
            ask(&mut cluster, first, &send_request(&send_header(topic), "x")).only();
        }

        assert!(cluster.stop(&address), "{profile}");
        assert_eq!(closed(&mut cluster), [first, second], "{profile}");
        assert!(!cluster.is_up(&address) && cluster.connect(&address).is_none(), "{profile}");
        assert!(!cluster.stop(&address) && !cluster.vanish(&address), "{profile}: it is down already");
        assert!(cluster.registrations().all(|known| known.conn == other), "{profile}");
        assert_eq!(cluster.registrations().count(), 1, "{profile}");
        let one = names(&["broker-a"]);
        assert_eq!(routes(&mut cluster, "T"), [one.clone(), one], "{profile}");
        assert_eq!(routes(&mut cluster, "Only"), [None, None], "{profile}");
        cluster.register_brokers();
        assert_eq!(
            routes(&mut cluster, "Only"),
            [None, None],
            "{profile}: a stopped broker does not register"
        );

        assert!(cluster.start(&address), "{profile}");
        assert!(!cluster.start(&address), "{profile}: it is up already");
        let (both, one) = (names(&["broker-a", "broker-b"]), names(&["broker-b"]));
        assert_eq!(routes(&mut cluster, "T"), [both.clone(), both], "{profile}");
        assert_eq!(routes(&mut cluster, "Only"), [one.clone(), one], "{profile}");
        let conn = broker(&mut cluster, 1);
        let answer = ask(&mut cluster, conn, &send_request(&send_header("T"), "x")).only();
        assert_eq!(answer.ext.value("queueOffset").as_deref(), Some("1"), "{profile}");
        assert_eq!(cluster.stored().count(), 3, "{profile}");
    }
}

/// Bytes that were under way to a stopped broker reach nobody.
#[test]
fn a_stopped_broker_gets_nothing() {
    let mut cluster = cluster(Profile::V5_3);
    let address = broker_address(&cluster, 0);
    let conn = broker(&mut cluster, 0);
    assert!(cluster.stop(&address));
    assert_eq!(closed(&mut cluster), [conn]);
    for up in [false, true] {
        let talk = ask(&mut cluster, conn, &send_request(&send_header("T"), "x"));
        assert_eq!((talk.answers.len(), talk.closed, cluster.stored().count()), (0, false, 0));
        assert_eq!(cluster.start(&address), !up);
    }
}

#[test]
fn a_topic_of_a_broker_that_is_down_is_routed_when_it_starts() {
    let mut cluster = cluster(Profile::V5_3);
    let address = broker_address(&cluster, 1);
    assert!(cluster.stop(&address));
    cluster.create_topic(&TopicConfig::new("Late", 1));
    assert_eq!(route(&mut cluster, 0, "Late"), names(&["broker-a"]));
    assert!(cluster.start(&address));
    assert_eq!(route(&mut cluster, 0, "Late"), names(&["broker-a", "broker-b"]));
}

/// A name server has no disk: it knows nothing until brokers register again.
#[test]
fn a_name_server_stops_and_starts() {
    for profile in Profile::ALL {
        let mut cluster = cluster(profile);
        let addresses = name_servers(&cluster);
        let conn = name_server(&mut cluster);
        assert!(cluster.stop(&addresses[0]), "{profile}");
        assert_eq!(closed(&mut cluster), [conn], "{profile}");
        assert!(cluster.connect(&addresses[0]).is_none() && cluster.is_up(&addresses[1]), "{profile}");
        assert_eq!(cluster.routes().route("T"), None, "{profile}");
        let both = names(&["broker-a", "broker-b"]);
        assert_eq!(route(&mut cluster, 1, "T"), both, "{profile}");
        cluster.create_topic(&TopicConfig::new("Meanwhile", 1));
        cluster.register_brokers();

        assert!(cluster.start(&addresses[0]), "{profile}");
        for topic in ["T", "Meanwhile"] {
            assert_eq!(routes(&mut cluster, topic), [None, both.clone()], "{topic}, {profile}");
        }
        cluster.register_brokers();
        for topic in ["T", "Meanwhile"] {
            assert_eq!(routes(&mut cluster, topic), [both.clone(), both.clone()], "{topic}, {profile}");
        }
    }
}

/// wire §5.25: a changed topic may be sent alone, so a name server that is new knows the broker for that topic only.
#[test]
fn a_new_name_server_hears_of_new_topics() {
    let mut cluster = cluster(Profile::V5_3);
    let address = cluster.name_server().to_owned();
    assert!(cluster.stop(&address) && cluster.start(&address));
    cluster.create_topic_on(1, &TopicConfig::new("New", 1));
    assert_eq!(route(&mut cluster, 0, "New"), names(&["broker-b"]));
    assert_eq!(route(&mut cluster, 0, "T"), None);
}

/// A broker that starts while one name server is down registers at the other alone.
#[test]
fn a_broker_starts_without_a_name_server() {
    let mut cluster = cluster(Profile::V5_3);
    let (address, down) = (broker_address(&cluster, 0), name_servers(&cluster)[1].clone());
    assert!(cluster.stop(&address) && cluster.stop(&down));
    assert!(cluster.start(&address) && cluster.start(&down));
    assert_eq!(routes(&mut cluster, "T"), [names(&["broker-a", "broker-b"]), None]);
}

/// Nobody is told that a host is gone: connections hang, routes stay until they expire.
#[test]
fn a_host_vanishes() {
    let mut cluster = cluster(Profile::V5_3);
    let address = broker_address(&cluster, 1);
    let (conn, left) = (broker(&mut cluster, 1), broker(&mut cluster, 1));
    register_group(&mut cluster, conn);
    assert!(cluster.vanish(&address));
    assert!(!cluster.is_up(&address) && cluster.connect(&address).is_none());
    assert_eq!((cluster.registrations().count(), cluster.open_connections(&address)), (0, 0));
    let request = send_request(&send_header("T"), "x");
    let talk = ask(&mut cluster, conn, &request);
    assert_eq!((talk.answers.len(), talk.closed, cluster.stored().count()), (0, false, 0));

    let (both, one) = (names(&["broker-a", "broker-b"]), names(&["broker-a"]));
    cluster.register_brokers();
    assert_eq!(routes(&mut cluster, "T"), [both.clone(), both.clone()]);
    assert!(cluster.expire(&address));
    assert_eq!(routes(&mut cluster, "T"), [one.clone(), one]);

    assert!(cluster.start(&address));
    assert_eq!(routes(&mut cluster, "T"), [both.clone(), both]);
    assert_eq!(closed(&mut cluster), []);
    let talk = ask(&mut cluster, conn, &request);
    assert_eq!((talk.answers.len(), talk.closed, cluster.stored().count()), (0, true, 0));
    cluster.disconnect(left);
    let ends = std::iter::from_fn(|| cluster.poll_event()).filter(
        |event| matches!(event, ModelEvent::Disconnected { conn: of, .. } if [conn, left].contains(of)),
    );
    assert_eq!(ends.count(), 2, "each connection ended once");
}

/// Connections that a vanished host left behind are nothing to the process that came after it.
#[test]
fn dead_connections_are_not_closed_again() {
    let mut cluster = cluster(Profile::V5_3);
    let address = broker_address(&cluster, 1);
    broker(&mut cluster, 1);
    assert!(cluster.vanish(&address) && cluster.start(&address));
    let open = broker(&mut cluster, 1);
    assert_eq!(cluster.open_connections(&address), 1);
    cluster.close_connections(&address);
    assert_eq!(closed(&mut cluster), [open]);
    let open = broker(&mut cluster, 1);
    assert!(cluster.stop(&address));
    assert_eq!(closed(&mut cluster), [open]);
}

/// A broker that is up, but out of the name servers' reach, is forgotten and serves on.
#[test]
fn an_expired_broker_registers_again() {
    let mut cluster = cluster(Profile::V5_3);
    let address = broker_address(&cluster, 0);
    assert!(cluster.expire(&address));
    assert_eq!(route(&mut cluster, 0, "T"), names(&["broker-b"]));
    let conn = broker(&mut cluster, 0);
    assert_eq!(ask(&mut cluster, conn, &send_request(&send_header("T"), "x")).only().code, 0);
    cluster.register_brokers();
    assert_eq!(route(&mut cluster, 0, "T"), names(&["broker-a", "broker-b"]));
}

#[test]
fn addresses_that_nobody_has() {
    let mut cluster = cluster(Profile::V5_3);
    let nobody = "127.0.0.1:1";
    assert!(!cluster.stop(nobody) && !cluster.vanish(nobody) && !cluster.start(nobody));
    assert!(!cluster.is_up(nobody) && !cluster.expire(nobody));
    let name_server = cluster.name_server().to_owned();
    assert!(!cluster.expire(&name_server));
    assert_eq!(route(&mut cluster, 0, "T"), names(&["broker-a", "broker-b"]));
}

#[test]
fn faults_outlast_outages() {
    let mut cluster = cluster(Profile::V5_3);
    let address = broker_address(&cluster, 0);
    assert!(cluster.fault(&address, Fault::Refuse));
    assert!(cluster.stop(&address) && cluster.start(&address));
    assert_eq!(cluster.connect(&address), None);
    cluster.heal(&address);
    broker(&mut cluster, 0);
}

/// A snapshot taken amid a frame goes on as the original does, and apart from it.
#[test]
fn clones_go_on_alike_and_apart() {
    let mut cluster = cluster(Profile::V5_3);
    let conn = broker(&mut cluster, 0);
    register_group(&mut cluster, conn);
    let address = broker_address(&cluster, 0);
    assert!(cluster.fault(&address, Fault::CloseOnRequest { carried_out: true }));
    let frame = encoded(&send_request(&send_header("T"), "x"), HeaderFormat::Json);
    cluster.receive(NOW, conn, frame.slice(..50));
    let mut clone = cluster.clone();
    let finish = |cluster: &mut Cluster| {
        cluster.receive(NOW, conn, frame.slice(50..));
        let outputs: Vec<_> = std::iter::from_fn(|| cluster.poll_output()).collect();
        let events: Vec<_> = std::iter::from_fn(|| cluster.poll_event()).collect();
        (outputs, events, cluster.stored().cloned().collect::<Vec<_>>())
    };
    let original = finish(&mut cluster);
    assert_eq!((original.0.as_slice(), original.2.len()), ([PeerOutput::Close { conn }].as_slice(), 1));
    assert_eq!((clone.stored().count(), clone.registrations().count()), (0, 1));
    assert_eq!(finish(&mut clone), original);
}
