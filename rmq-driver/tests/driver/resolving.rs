//! A host's name is resolved anew for each connection, and its addresses are tried in turn.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmq_driver::rmq_core::{Address, Identity, Instant};
use rmq_driver::{Client, Runtime, SpawnError, connect_each};

use super::message;
use super::world::{BROKER, Hand, NAME_SERVER, Peer, Pipe, Sleep, World};

/// A world in which the broker's name leads where a test says.
#[derive(Clone)]
struct Resolving {
    world: World,
    answers: Arc<Mutex<VecDeque<Vec<SocketAddr>>>>,
}

impl Runtime for Resolving {
    type Stream = Pipe;
    type Sleep = Sleep;

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<Pipe>> + Send + 'static {
        let (this, address) = (self.clone(), address.clone());
        async move {
            if address.to_string() == NAME_SERVER {
                return this.world.connect(&address).await;
            }
            let answer = this.answers.lock().unwrap().pop_front();
            let answer = answer.ok_or_else(|| io::Error::other("no such name"));
            connect_each(&address, answer, |peer| this.world.pipes.connect(peer.to_string())).await
        }
    }

    fn now(&self) -> Instant {
        self.world.now()
    }

    fn unix_ms(&self) -> u64 {
        self.world.unix_ms()
    }

    fn seed(&self) -> u64 {
        self.world.seed()
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        self.world.sleep_until(at)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        self.world.spawn(task)
    }

    fn identity(&self, peer: Option<std::net::IpAddr>) -> Identity {
        self.world.identity(peer)
    }
}

#[test]
fn a_name_is_resolved_anew_at_each_reconnect() {
    let world = World::new();
    let mut peer = Peer::new(&world);
    let (first, dead, second) = ("10.0.0.1:10911", "[fd00::2]:10911", "[fd00::3]:10911");
    world.pipes.refuse(dead);
    let parsed = |addresses: &[&str]| addresses.iter().map(|text| text.parse().unwrap()).collect();
    let answers = [parsed(&[first]), parsed(&[dead, second])];
    let runtime = Resolving { world: world.clone(), answers: Arc::new(Mutex::new(answers.into())) };
    let builder = Client::<World>::builder().name_server(NAME_SERVER).compression(None);
    let client = builder.start_on(runtime).unwrap();
    let producer = client.producer("group").unwrap();
    for address in [first, second] {
        let mut send = Hand::begun(producer.send(message("x")));
        peer.run();
        assert_eq!(send.output().unwrap().attempts, 1, "{address}");
        // An address is connected to once in 100 ms at most, and the broker's is the same.
        world.pass(Duration::from_millis(100));
        let pipe = peer.pipe(address);
        world.pipes.with(pipe, |end| end.peer_closed = true);
        world.run();
    }
    let mut send = Hand::begun(producer.send(message("x")));
    while send.flag.wakes() == 0 {
        world.pass(Duration::from_millis(100));
        peer.run();
    }
    let text = send.output().unwrap_err().to_string();
    assert!(text.contains(BROKER) && text.contains("cannot resolve the host: no such name"), "{text}");
}
