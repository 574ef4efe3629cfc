//! What a producer holds, and what it lets go.

use std::sync::Arc;

use bytes::Bytes;
use rmq_core::proto::message::Message;
use rmq_core::{
    Client, ClientConfig, ConnId, Event, Identity, Input, Instant, OpId, Output, ProducerConfig, ProducerId,
    SendOptions, SendResult, Start, WriteData,
};
use rmq_sim::model::{Cluster, ClusterConfig, PeerConn, PeerOutput, TopicConfig};

use crate::world::{TOPIC, World, at};

/// 2,000 sends that are answered at once leave no timer behind.
#[test]
fn l6_timers_go_with_their_sends() {
    let mut world = World::new(2);
    world.send_and_wait(0).sent();
    world.run_to(at(3));
    let before = world.stats(0);
    for _ in 0..20 {
        for _ in 0..100 {
            world.send(0);
        }
        assert_eq!(world.stats(0).timers, before.timers + 100);
        world.run_until_ended();
        assert_eq!(world.stats(0).timers, before.timers);
    }
    let after = world.stats(0);
    assert!(world.now() < at(5), "they were fast: no timer has gone off");
    assert_eq!((after.sends_succeeded, after.awaited, after.operation_bytes), (2_001, 0, 0));
}

/// A client and the servers, without a network, so that a test sees each buffer that goes in and out.
struct Direct {
    client: Client,
    producer: ProducerId,
    cluster: Cluster,
    conns: Vec<(ConnId, PeerConn)>,
    writes: Vec<WriteData>,
    results: Vec<SendResult>,
}

impl Direct {
    fn new() -> Self {
        let mut cluster = Cluster::new(ClusterConfig::default());
        cluster.create_topic(&TopicConfig::new(TOPIC, 1));
        // A body that is compressed is another one.
        let config =
            ClientConfig::builder().name_server(cluster.name_server()).compression(None).build().unwrap();
        let identity = Identity { ip: [10, 0, 0, 1].into(), pid: 1 };
        let start = Start { now: Instant::ZERO, unix_ms: 1_700_000_000_000, seed: 1, identity };
        let mut client = Client::new(config, start);
        let producer = client.add_producer(Instant::ZERO, ProducerConfig::new("group")).unwrap();
        Self { client, producer, cluster, conns: Vec::new(), writes: Vec::new(), results: Vec::new() }
    }

    fn send(&mut self, body: Bytes) -> OpId {
        let message = Message::new(TOPIC, body).prepare(self.client.message_rules()).unwrap();
        self.client.send(Instant::ZERO, self.producer, message, SendOptions::default()).unwrap()
    }

    /// Carries everything to and fro; each answer passes `wrap` on its way.
    fn run(&mut self, mut wrap: impl FnMut(Bytes) -> Bytes) {
        let now = Instant::ZERO;
        while let Some(output) = self.client.poll_output() {
            match output {
                Output::Connect { conn, address } => {
                    let peer = self.cluster.connect(&address.to_string()).unwrap();
                    self.conns.push((conn, peer));
                    self.client.handle_input(now, Input::Connected { conn });
                }
                Output::Write { conn, data } => {
                    let (_, peer) = *self.conns.iter().find(|(of, _)| *of == conn).unwrap();
                    for segment in data.segments() {
                        self.cluster.receive(1_700_000_000_000, peer, segment.clone());
                    }
                    self.client.handle_input(now, Input::Written { conn, bytes: data.len() });
                    self.writes.push(data);
                }
                Output::Event(Event::Sent { result, .. }) => self.results.push(result),
                Output::Event(Event::ConnectionOpened { .. } | Event::RouteLearned { .. }) => {}
                output => panic!("{output:?}"),
            }
            while let Some(PeerOutput::Write { conn, data }) = self.cluster.poll_output() {
                let (conn, _) = *self.conns.iter().find(|(_, peer)| *peer == conn).unwrap();
                self.client.handle_input(now, Input::Received { conn, data: wrap(data) });
            }
        }
    }
}

/// Bytes that tell by their number of owners whether anybody holds them.
struct Held {
    _owner: Arc<()>,
    bytes: Vec<u8>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The answers come in reads of 1 MiB, as it were. The results and the routes that are kept hold none of it.
#[test]
fn l5_what_is_kept_of_answers_pins_no_buffer() {
    let mut direct = Direct::new();
    let owners = Arc::new(());
    for _ in 0..50 {
        direct.send(Bytes::from_static(b"body"));
    }
    direct.run(|data| {
        let mut buffer = data.to_vec();
        let len = buffer.len();
        buffer.resize(1024 * 1024, 0);
        Bytes::from_owner(Held { _owner: Arc::clone(&owners), bytes: buffer }).slice(..len)
    });
    assert_eq!(direct.results.len(), 50);
    assert_eq!(Arc::strong_count(&owners), 1, "a read buffer is held");
    assert_eq!(direct.client.stats().topics, 1, "and its route is kept");
}

/// The bytes of a large body that are written are those that the user handed over.
#[test]
fn l5_large_bodies_are_never_copied() {
    let mut direct = Direct::new();
    let bodies: Vec<_> = [4_097, 100_000, 4 * 1024 * 1024].map(|len| Bytes::from(vec![b'x'; len])).into();
    for body in &bodies {
        direct.send(body.clone());
    }
    direct.run(|data| data);
    assert_eq!(direct.results.len(), bodies.len());
    let segments: Vec<_> = direct.writes.iter().flat_map(WriteData::segments).collect();
    for body in &bodies {
        let same = |segment: &&&Bytes| segment.as_ptr() == body.as_ptr() && segment.len() == body.len();
        assert_eq!(segments.iter().filter(same).count(), 1, "{} bytes", body.len());
    }
    let others = segments.iter().map(|segment| segment.len()).sum::<usize>();
    let bytes = bodies.iter().map(Bytes::len).sum::<usize>();
    assert!(others - bytes < 4_096, "{} bytes beside the bodies", others - bytes);
    direct.writes.clear();
    drop(direct.cluster);
    assert!(bodies.into_iter().all(|body| body.is_unique()), "the client holds none of them");
}
