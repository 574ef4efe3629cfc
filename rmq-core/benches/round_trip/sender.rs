//! A client with so many sends under way, driven as `rmq-driver` drives it.

use std::time::Duration;

use bytes::Bytes;
use rmq_core::proto::command::HeaderFormat;
use rmq_core::proto::message::{Message, Prepared};
use rmq_core::{
    Client, ClientConfig, ConnId, Event, Identity, Input, Instant, Output, ProducerConfig, ProducerId,
    SendOptions, Start,
};

use crate::peer::{NAME_SERVER, Peer, TOPIC, Template};

static BODY: [u8; 128] = [b'a'; 128];

/// So long that nothing but sends goes on.
const LONG: Duration = Duration::from_secs(86_400);

#[derive(Clone, Copy)]
pub(crate) enum Made {
    EachTime,
    Once,
}

pub(crate) struct Sender {
    client: Client,
    producer: ProducerId,
    made: Made,
    prepared: Prepared,
    now: Instant,
    /// Answers that come in one read.
    per_read: usize,
    /// The connection to the broker.
    conn: ConnId,
    template: Template,
    /// Of the next answer.
    opaque: i32,
    read: Vec<u8>,
    accepted: usize,
    stored: usize,
}

impl Sender {
    /// With a connection to the broker, and `waiting` sends that it has not answered.
    pub(crate) fn new(format: HeaderFormat, made: Made, waiting: usize, per_read: usize) -> Self {
        let config = ClientConfig::builder()
            .name_server(NAME_SERVER)
            .header_format(format)
            .heartbeat_interval(LONG)
            .route_refresh_interval(LONG)
            .idle_timeout(LONG)
            .build()
            .expect("a good configuration");
        let identity = Identity { ip: [127, 0, 0, 1].into(), pid: 4711 };
        let now = Instant::ZERO;
        let mut client = Client::new(config, Start { now, unix_ms: 1_700_000_000_000, seed: 42, identity });
        let producer = client.add_producer(now, ProducerConfig::new("bench_group")).expect("a good group");
        let prepared = message(&client);
        client.send(now, producer, prepared.clone(), SendOptions::default()).expect("there is room");
        let (conn, opaque) = connect(&mut client, &mut Peer::new(format), now);
        let template = Template::new(format, opaque);
        let read = Vec::with_capacity(64 * 1024);
        let (accepted, stored) = (1, 0);
        let mut sender = Self {
            client,
            producer,
            made,
            prepared,
            now,
            per_read,
            conn,
            template,
            opaque,
            read,
            accepted,
            stored,
        };
        sender.answer(1);
        assert_eq!(sender.stored, 1, "the answer fits");
        sender.submit(waiting);
        sender
    }

    /// So many sends are answered, and as many begun.
    pub(crate) fn round(&mut self, sends: usize) {
        let before = (self.accepted, self.stored);
        for _ in 0..sends / self.per_read {
            self.now = self.now + Duration::from_micros(self.per_read as u64);
            self.answer(self.per_read);
            self.submit(self.per_read);
        }
        assert_eq!((self.accepted, self.stored), (before.0 + sends, before.1 + sends));
    }

    /// Answers whatever still waits.
    pub(crate) fn end(&mut self) {
        self.answer(self.accepted - self.stored);
        assert_eq!((self.accepted, self.client.stats().operations), (self.stored, 0));
    }

    fn submit(&mut self, sends: usize) {
        for _ in 0..sends {
            let prepared = match self.made {
                Made::EachTime => message(&self.client),
                Made::Once => self.prepared.clone(),
            };
            let sent = self.client.send(self.now, self.producer, prepared, SendOptions::default());
            sent.expect("there is room");
        }
        self.accepted += sends;
        self.turn();
    }

    fn answer(&mut self, answers: usize) {
        self.read.clear();
        for _ in 0..answers {
            self.template.write(self.opaque, &mut self.read);
            self.opaque += 1;
        }
        let data = Bytes::copy_from_slice(&self.read);
        self.client.handle_input(self.now, Input::Received { conn: self.conn, data });
        self.turn();
    }

    fn turn(&mut self) {
        if self.client.poll_timeout().is_some_and(|at| at <= self.now) {
            self.client.handle_timeout(self.now);
        }
        while let Some(output) = self.client.poll_output() {
            match output {
                Output::Write { conn, data } => {
                    let bytes = std::hint::black_box(data).len();
                    self.client.handle_input(self.now, Input::Written { conn, bytes });
                }
                Output::Event(Event::Sent { result, .. }) => {
                    self.stored += 1;
                    drop(std::hint::black_box(result));
                }
                other => panic!("nothing else was to happen: {other:?}"),
            }
        }
    }
}

fn message(client: &Client) -> Prepared {
    let message = Message::new(TOPIC, &BODY[..]).tag("T").key("k");
    message.prepare(client.message_rules()).expect("a good message")
}

/// Lets everything happen that comes before the first send's answer; tells the broker's connection, and the send's opaque.
fn connect(client: &mut Client, peer: &mut Peer, now: Instant) -> (ConnId, i32) {
    let mut broker = None;
    while let Some(output) = client.poll_output() {
        match output {
            Output::Connect { conn, .. } => {
                broker = Some(conn);
                client.handle_input(now, Input::Connected { conn });
            }
            Output::Write { conn, data } => {
                client.handle_input(now, Input::Written { conn, bytes: data.len() });
                for data in peer.receive(data.segments().concat().into()) {
                    client.handle_input(now, Input::Received { conn, data });
                }
            }
            Output::Event(Event::ConnectionOpened { .. } | Event::RouteLearned { .. }) => {}
            other => panic!("nothing else was to happen: {other:?}"),
        }
    }
    (broker.expect("it connected"), peer.sends.pop_front().expect("it sent"))
}
