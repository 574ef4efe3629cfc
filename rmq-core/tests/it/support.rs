//! A virtual network: one client, scripted peers, and a clock that jumps from one thing to do to the next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rmq_core::proto::body::{BrokerData, QueueData, TopicRouteData};
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_core::proto::header::{GetRouteHeader, PushReplyHeader, SendMessageV2Header, SendResponseHeader};
use rmq_core::proto::message::{
    BatchElement, BatchElements, Message, MessageRules, PreparedBatch, PreparedRequest, StoredMessage,
};
use rmq_core::proto::properties;
use rmq_core::{
    Client, ClientConfig, ClientConfigBuilder, CloseReason, ConnId, Event, Identity, Input, Instant,
    NoReplyError, OpId, Output, ProducerConfig, ProducerId, Replied, SendBack, SendBackError,
    SendBackOptions, SendError, SendOptions, SendResult, SentBack, Start,
};

pub(crate) const NAME_SERVER: &str = "ns:9876";
pub(crate) const UNIX_MS: u64 = 1_700_000_000_000;

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// What a peer does when it is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accept {
    Open,
    Refuse,
    /// Neither opens nor refuses.
    Never,
    OpenAfter(u64),
}

/// What a peer does about a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Code(ResponseCode, &'static str),
    /// A send's answer with this code and a full header.
    Stored(ResponseCode),
    /// Success with this body.
    Route(Bytes),
    Bytes(Bytes),
    Silent,
    Close,
    /// The act, so many milliseconds later.
    After(u64, Box<Self>),
}

pub(crate) fn after(millis: u64, act: Act) -> Act {
    Act::After(millis, Box::new(act))
}

#[derive(Default)]
pub(crate) struct Peer {
    pub(crate) accept: Option<Accept>,
    /// What it does about the next sends; when used up, each is stored.
    pub(crate) sends: VecDeque<Act>,
    /// What it does about each send, once `sends` is used up.
    pub(crate) always: Option<Act>,
    /// What it does about other requests than sends, by request code.
    pub(crate) others: BTreeMap<i32, Act>,
    /// What it says of its region, and whether messages are to be traced.
    pub(crate) region: Option<&'static str>,
    pub(crate) trace_on: Option<&'static str>,
    stored: i64,
}

/// A request that arrived at a peer.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) address: String,
    pub(crate) conn: ConnId,
    pub(crate) command: RemotingCommand,
}

impl Seen {
    pub(crate) fn send(&self) -> SendMessageV2Header<'_> {
        self.command.header().expect("a send header")
    }
}

struct Conn {
    address: String,
    decoder: FrameDecoder,
}

enum Due {
    Input(Input),
    Act { conn: ConnId, request: Box<RemotingCommand>, act: Act },
}

pub(crate) struct Net {
    pub(crate) client: Client,
    pub(crate) producer: ProducerId,
    pub(crate) now: Instant,
    pub(crate) peers: BTreeMap<String, Peer>,
    pub(crate) routes: BTreeMap<String, TopicRouteData>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) events: Vec<(Instant, Event)>,
    /// Connections ordered, with the time.
    pub(crate) connects: Vec<(Instant, String)>,
    /// Connections closed by the client's order.
    pub(crate) closes: Vec<(Instant, String)>,
    /// All bytes written per connection.
    pub(crate) written: BTreeMap<ConnId, Vec<u8>>,
    /// Longest piece that answers arrive in.
    pub(crate) chunk: usize,
    /// Milliseconds that name servers take to find a route.
    pub(crate) ns_latency: u64,
    /// Whether streams take no bytes.
    pub(crate) stalled: bool,
    /// Connections whose peer answers GO_AWAY to whatever is written on them from now on.
    pub(crate) going_away: BTreeSet<ConnId>,
    conns: BTreeMap<ConnId, Conn>,
    due: BTreeMap<(Instant, u64), Due>,
    serial: u64,
}

/// Frames are as long as the bodies of a test.
pub(crate) fn config() -> ClientConfigBuilder {
    ClientConfig::builder().name_server(NAME_SERVER).compression(None)
}

pub(crate) fn start() -> Start {
    let identity = Identity { ip: [10, 0, 0, 9].into(), pid: 1234 };
    Start { now: Instant::ZERO, unix_ms: UNIX_MS, seed: 7, identity }
}

pub(crate) fn address_of(broker: &str) -> String {
    format!("{broker}:10911")
}

/// A route of brokers with so many queues each, all with a master.
pub(crate) fn route(brokers: &[(&str, i32)]) -> TopicRouteData {
    let queue = |(name, queues): &(&str, i32)| QueueData {
        broker_name: (*name).into(),
        read_queue_nums: *queues,
        write_queue_nums: *queues,
        perm: 6,
        topic_sys_flag: 0,
    };
    let broker = |(name, _): &(&str, i32)| BrokerData {
        cluster: "DefaultCluster".into(),
        broker_name: (*name).into(),
        addresses: [(0, address_of(name))].into(),
        ..BrokerData::default()
    };
    TopicRouteData {
        queue_datas: brokers.iter().map(queue).collect(),
        broker_datas: brokers.iter().map(broker).collect(),
        ..TopicRouteData::default()
    }
}

impl Net {
    /// A client with one producer of group `PG`, topic `T` on brokers `a` and `b` with two queues each.
    pub(crate) fn new() -> Self {
        Self::with(config().build().unwrap(), ProducerConfig::new("PG"))
    }

    pub(crate) fn with(config: ClientConfig, producer: ProducerConfig) -> Self {
        let mut client = Client::new(config, start());
        let producer = client.add_producer(Instant::ZERO, producer).unwrap();
        let mut net = Self {
            client,
            producer,
            now: Instant::ZERO,
            peers: BTreeMap::new(),
            routes: BTreeMap::new(),
            seen: Vec::new(),
            events: Vec::new(),
            connects: Vec::new(),
            closes: Vec::new(),
            written: BTreeMap::new(),
            chunk: usize::MAX,
            ns_latency: 0,
            stalled: false,
            going_away: BTreeSet::new(),
            conns: BTreeMap::new(),
            due: BTreeMap::new(),
            serial: 0,
        };
        net.routes.insert("T".into(), route(&[("a", 2), ("b", 2)]));
        net
    }

    pub(crate) fn peer(&mut self, address: &str) -> &mut Peer {
        self.peers.entry(address.into()).or_default()
    }

    /// The broker of that name.
    pub(crate) fn broker(&mut self, name: &str) -> &mut Peer {
        self.peer(&address_of(name))
    }

    /// Makes the route of `T` known and lets its connections open, so that a row begins with all of that behind it.
    pub(crate) fn warm(&mut self) {
        let op = self.send("T", SendOptions::default());
        self.run(ms(0));
        self.take_sent(op);
        let op = self.send("T", SendOptions::default());
        self.run(ms(0));
        self.take_sent(op);
        let ops: Vec<_> = (0..2).map(|_| self.send("T", SendOptions::default())).collect();
        self.run(ms(0));
        ops.into_iter().for_each(|op| drop(self.take_sent(op)));
        self.forget();
    }

    /// Forgets what was recorded.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
        self.events.clear();
        self.connects.clear();
        self.closes.clear();
    }

    pub(crate) fn send(&mut self, topic: &str, options: SendOptions) -> OpId {
        let message = Message::new(topic.to_owned(), "Hello").tag("TagA");
        let prepared = message.prepare(self.client.message_rules()).unwrap();
        self.client.send(self.now, self.producer, prepared, options).unwrap()
    }

    pub(crate) fn send_batch(&mut self, topic: &str, bodies: &[&str]) -> OpId {
        let batch = batch(topic, bodies);
        self.client.send_batch(self.now, self.producer, batch, SendOptions::default()).unwrap()
    }

    pub(crate) fn send_back(&mut self, message: SendBack) -> OpId {
        self.client.send_back(self.now, self.producer, message, SendBackOptions::default()).unwrap()
    }

    pub(crate) fn prepare_request(&self, timeout: Duration) -> PreparedRequest {
        let message = Message::new("T", "Hello").tag("TagA");
        message.prepare_request(self.client.message_rules(), self.client.client_id(), timeout).unwrap()
    }

    /// Sends a request to `T`, whose reply has so much time.
    pub(crate) fn request(&mut self, timeout: Duration) -> OpId {
        let request = self.prepare_request(timeout);
        self.client.send_request(self.now, self.producer, request).unwrap()
    }

    /// A broker pushes the reply to a request.
    pub(crate) fn push(&mut self, broker: &str, reply: &RemotingCommand) {
        let conn = self.conn(&address_of(broker)).expect("a connection to push on");
        self.answer(conn, reply);
    }

    /// The broker that the next send to a topic with a known route and open connections goes to.
    pub(crate) fn next_broker(&self, topic: &str) -> String {
        self.next_queue(topic).0
    }

    /// The same with the queue there; a clone of the client tells.
    pub(crate) fn next_queue(&self, topic: &str) -> (String, i32) {
        let mut client = self.client.clone();
        let message = Message::new(topic.to_owned(), "Hello").prepare(client.message_rules()).unwrap();
        let options = SendOptions::default().timeout(ms(3_000));
        client.send(self.now, self.producer, message, options).unwrap();
        let written = core::iter::from_fn(|| client.poll_output()).find_map(|output| match output {
            Output::Write { data, .. } => Some(data.segments().concat()),
            _ => None,
        });
        let mut input = Bytes::from(written.expect("the connection is open"));
        let frame = FrameDecoder::new(MAX_FRAME_LEN).decode(&mut input).unwrap().expect("a whole frame");
        let command = RemotingCommand::decode(frame).unwrap();
        let header = command.header::<SendMessageV2Header<'_>>().unwrap();
        (header.broker_name.unwrap().into_owned(), header.queue_id)
    }

    /// Lets `span` pass.
    pub(crate) fn run(&mut self, span: Duration) {
        let end = self.now + span;
        self.turn();
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.turn();
        }
        self.now = end;
        self.turn();
    }

    fn next(&self) -> Option<Instant> {
        let due = self.due.keys().next().map(|(at, _)| *at);
        [due, self.client.poll_timeout()].into_iter().flatten().min()
    }

    /// Feeds all that is due, then lets time pass, then does what was ordered, as the contract asks of a driver.
    pub(crate) fn turn(&mut self) {
        loop {
            self.feed();
            self.client.handle_timeout(self.now);
            self.drain();
            let due = self.due.keys().next().is_some_and(|(at, _)| *at <= self.now);
            if !due {
                break;
            }
        }
        let timeout = self.client.poll_timeout();
        assert!(timeout.is_none_or(|at| at > self.now), "spins at {:?}: {timeout:?}", self.now);
    }

    pub(crate) fn feed(&mut self) {
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Due::Input(input) => {
                    let gone = match &input {
                        Input::Connected { conn } | Input::Closed { conn, .. } => {
                            !self.conns.contains_key(conn)
                        }
                        _ => false,
                    };
                    if let Input::Closed { conn, .. } = &input {
                        self.conns.remove(conn);
                    }
                    if !gone {
                        self.client.handle_input(self.now, input);
                    }
                }
                Due::Act { conn, request, act } => self.act(conn, &request, act),
            }
        }
    }

    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.client.poll_output() {
            match output {
                Output::Connect { conn, address } => self.connect(conn, address.to_string()),
                Output::Write { conn, data } => self.write(conn, &data.segments().concat()),
                Output::Close { conn } => {
                    let gone = self.conns.remove(&conn).expect("closes what was ordered, once");
                    self.closes.push((self.now, gone.address));
                }
                Output::Event(event) => self.events.push((self.now, event)),
            }
        }
    }

    fn connect(&mut self, conn: ConnId, address: String) {
        self.connects.push((self.now, address.clone()));
        let accept = self.peer(&address).accept.unwrap_or(Accept::Open);
        self.conns.insert(conn, Conn { address, decoder: FrameDecoder::new(MAX_FRAME_LEN) });
        match accept {
            Accept::Open => self.soon(0, Due::Input(Input::Connected { conn })),
            Accept::OpenAfter(millis) => self.soon(millis, Due::Input(Input::Connected { conn })),
            Accept::Refuse => {
                let reason = CloseReason::Failed("connection refused".into());
                self.soon(0, Due::Input(Input::Closed { conn, reason }));
            }
            Accept::Never => {}
        }
    }

    fn write(&mut self, conn: ConnId, data: &[u8]) {
        assert!(!data.is_empty(), "an empty write");
        if self.stalled {
            return;
        }
        self.client.handle_input(self.now, Input::Written { conn, bytes: data.len() });
        self.written.entry(conn).or_default().extend_from_slice(data);
        let Some(open) = self.conns.get_mut(&conn) else {
            return;
        };
        let mut input = Bytes::copy_from_slice(data);
        let mut commands = Vec::new();
        while let Some(frame) = open.decoder.decode(&mut input).expect("the client writes good frames") {
            commands.push(RemotingCommand::decode(frame).expect("and good headers"));
        }
        let address = open.address.clone();
        for command in commands {
            let act = match () {
                () if command.is_response() => Act::Silent,
                () if self.going_away.contains(&conn) => Act::Code(ResponseCode::GO_AWAY, ""),
                () => self.choose(&address, &command),
            };
            self.seen.push(Seen { at: self.now, address: address.clone(), conn, command: command.clone() });
            self.act(conn, &command, act);
        }
    }

    fn choose(&mut self, address: &str, command: &RemotingCommand) -> Act {
        if [RequestCode::SEND_MESSAGE_V2.0, RequestCode::SEND_BATCH_MESSAGE.0].contains(&command.code) {
            let peer = self.peer(address);
            if let Some(act) = peer.sends.pop_front().or_else(|| peer.always.clone()) {
                return act;
            }
            return Act::Stored(ResponseCode::SUCCESS);
        }
        if let Some(act) = self.peer(address).others.get(&command.code) {
            return act.clone();
        }
        if command.code == RequestCode::GET_ROUTEINFO_BY_TOPIC.0 {
            let topic = command.header::<GetRouteHeader<'_>>().unwrap().topic;
            let answer = match self.routes.get(&*topic) {
                Some(route) => Act::Route(route.encode()),
                None => Act::Code(ResponseCode::TOPIC_NOT_EXIST, "No topic route info"),
            };
            return if self.ns_latency == 0 { answer } else { after(self.ns_latency, answer) };
        }
        Act::Route(Bytes::new())
    }

    fn act(&mut self, conn: ConnId, request: &RemotingCommand, act: Act) {
        let Some(address) = self.conns.get(&conn).map(|conn| conn.address.clone()) else {
            return;
        };
        match act {
            Act::Silent => {}
            Act::Close => self.soon(0, Due::Input(Input::Closed { conn, reason: CloseReason::PeerClosed })),
            Act::Code(..) | Act::Stored(_) | Act::Route(_) if request.is_oneway() => {}
            Act::Code(code, remark) => {
                self.answer(conn, &RemotingCommand::response_to(request, code).with_remark(remark));
            }
            Act::Stored(code) => {
                let peer = self.peer(&address);
                peer.stored += 1;
                let offset = peer.stored - 1;
                peer.stored += elements(&request.body).len().saturating_sub(1) as i64;
                let (region, trace_on) = (peer.region, peer.trace_on);
                let mut answer = stored(request, offset, code);
                for (name, value) in [("MSG_REGION", region), ("TRACE_ON", trace_on)] {
                    if let Some(value) = value {
                        answer.ext.insert(name, value);
                    }
                }
                self.answer(conn, &answer);
            }
            Act::Route(body) => {
                self.answer(
                    conn,
                    &RemotingCommand::response_to(request, ResponseCode::SUCCESS).with_body(body),
                );
            }
            Act::Bytes(data) => self.soon(0, Due::Input(Input::Received { conn, data })),
            Act::After(millis, act) => {
                let request = Box::new(request.clone());
                self.soon(millis, Due::Act { conn, request, act: *act });
            }
        }
    }

    pub(crate) fn answer(&mut self, conn: ConnId, answer: &RemotingCommand) {
        let mut out = BytesMut::new();
        answer.encode(HeaderFormat::Json, &mut out).unwrap();
        let mut out = out.freeze();
        while !out.is_empty() {
            let data = out.split_to(self.chunk.min(out.len()));
            self.soon(0, Due::Input(Input::Received { conn, data }));
        }
    }

    fn soon(&mut self, millis: u64, due: Due) {
        self.serial += 1;
        self.due.insert((self.now + ms(millis), self.serial), due);
    }

    /// An input at a time to come.
    pub(crate) fn later(&mut self, millis: u64, input: Input) {
        self.soon(millis, Due::Input(input));
    }

    /// The peer at an address goes away, as far as the connections go that it has.
    pub(crate) fn send_away(&mut self, address: &str) {
        let conns = self.conns.iter().filter(|(_, conn)| conn.address == address).map(|(id, _)| *id);
        self.going_away.extend(conns);
    }

    /// The live connection to a peer.
    pub(crate) fn conn(&self, address: &str) -> Option<ConnId> {
        self.conns.iter().find(|(_, conn)| conn.address == address).map(|(id, _)| *id)
    }

    /// The sends that arrived, in order.
    pub(crate) fn sends(&self) -> Vec<&Seen> {
        self.requests(RequestCode::SEND_MESSAGE_V2)
    }

    /// The batches that arrived, in order.
    pub(crate) fn batches(&self) -> Vec<&Seen> {
        self.requests(RequestCode::SEND_BATCH_MESSAGE)
    }

    pub(crate) fn requests(&self, code: RequestCode) -> Vec<&Seen> {
        self.seen.iter().filter(|seen| seen.command.code == code.0).collect()
    }

    /// Names of the brokers that sends arrived at.
    pub(crate) fn brokers_asked(&self) -> Vec<String> {
        self.sends().iter().map(|seen| seen.address.split(':').next().unwrap().to_owned()).collect()
    }

    /// The terminal events of an operation, with their times.
    pub(crate) fn ends(&self, op: OpId) -> Vec<(Instant, &Event)> {
        let of = |event: &Event| match event {
            Event::Sent { op, .. }
            | Event::OnewayWritten { op }
            | Event::QueuesFound { op, .. }
            | Event::SendFailed { op, .. }
            | Event::SentBack { op, .. }
            | Event::SendBackFailed { op, .. }
            | Event::Recalled { op, .. }
            | Event::RecallFailed { op, .. }
            | Event::TransactionEnded { op }
            | Event::EndTransactionFailed { op, .. }
            | Event::Replied { op, .. }
            | Event::RequestFailed { op, .. }
            | Event::Cancelled { op } => Some(*op),
            _ => None,
        };
        self.events
            .iter()
            .filter(|(_, event)| of(event) == Some(op))
            .map(|(at, event)| (*at, event))
            .collect()
    }

    /// The one end of an operation.
    pub(crate) fn end(&self, op: OpId) -> (Instant, &Event) {
        let ends = self.ends(op);
        assert_eq!(ends.len(), 1, "{op:?} ends once: {ends:?}");
        ends[0]
    }

    pub(crate) fn take_sent(&self, op: OpId) -> (Instant, SendResult) {
        match self.end(op) {
            (at, Event::Sent { result, .. }) => (at, result.clone()),
            (at, event) => panic!("{op:?} was to be sent, but at {at:?}: {event:?}"),
        }
    }

    pub(crate) fn take_sent_back(&self, op: OpId) -> (Instant, SentBack) {
        match self.end(op) {
            (at, Event::SentBack { how, .. }) => (at, how.clone()),
            (at, event) => panic!("{op:?} was to be sent back, but at {at:?}: {event:?}"),
        }
    }

    pub(crate) fn take_back_error(&self, op: OpId) -> (Instant, SendBackError) {
        match self.end(op) {
            (at, Event::SendBackFailed { error, .. }) => (at, error.clone()),
            (at, event) => panic!("{op:?} was not to be sent back, but at {at:?}: {event:?}"),
        }
    }

    pub(crate) fn take_reply(&self, op: OpId) -> (Instant, Replied) {
        match self.end(op) {
            (at, Event::Replied { reply, .. }) => (at, (**reply).clone()),
            (at, event) => panic!("{op:?} was to be replied to, but at {at:?}: {event:?}"),
        }
    }

    pub(crate) fn take_no_reply(&self, op: OpId) -> (Instant, NoReplyError) {
        match self.end(op) {
            (at, Event::RequestFailed { error, .. }) => (at, error.clone()),
            (at, event) => panic!("{op:?} was to get no reply, but at {at:?}: {event:?}"),
        }
    }

    pub(crate) fn take_error(&self, op: OpId) -> (Instant, SendError) {
        match self.end(op) {
            (at, Event::SendFailed { error, .. }) => (at, error.clone()),
            (at, event) => panic!("{op:?} was to fail, but at {at:?}: {event:?}"),
        }
    }
}

/// A message of topic `T` on broker `a`, consumed twice before, with properties as a broker stores them.
pub(crate) fn stored_message() -> StoredMessage {
    StoredMessage {
        topic: "T".into(),
        body: "Hello".into(),
        flag: 7,
        queue_id: 1,
        queue_offset: 41,
        commit_log_offset: 4_711,
        reconsume_times: 2,
        store_host: "10.0.0.1:10911".parse().unwrap(),
        properties: "KEYS\u{1}order-42\u{2}TAGS\u{1}TagA\u{2}TRAN_MSG\u{1}true\u{2}UNIQ_KEY\u{1}AC0A\u{2}"
            .into(),
        ..StoredMessage::default()
    }
}

/// [`stored_message`], given back to broker `a` by group `g`.
pub(crate) fn back() -> SendBack {
    SendBack::new("g", &stored_message()).unwrap().broker("a")
}

/// A batch of messages with these bodies.
pub(crate) fn batch(topic: &str, bodies: &[&str]) -> PreparedBatch {
    let messages = bodies.iter().map(|body| Message::new(topic.to_owned(), (*body).to_owned()));
    PreparedBatch::new(messages, &MessageRules::default()).unwrap()
}

/// The messages of a batch; none if it is no batch.
pub(crate) fn elements(body: &Bytes) -> Vec<BatchElement> {
    BatchElements::new(body.clone()).collect::<Result<_, _>>().unwrap_or_default()
}

/// A broker's answer to a send that it stored.
pub(crate) fn stored(request: &RemotingCommand, offset: i64, code: ResponseCode) -> RemotingCommand {
    let header = request.header::<SendMessageV2Header<'_>>().unwrap();
    let (queue_id, messages) =
        (header.queue_id, if header.batch == Some(true) { elements(&request.body).len() } else { 1 });
    let ids: Vec<_> = (0..messages).map(|place| format!("0A00000100002A9F{:016X}", 0x400 + place)).collect();
    RemotingCommand::response_to(request, code).with_ext(&SendResponseHeader {
        message_id: ids.join(",").into(),
        queue_id,
        queue_offset: offset,
        transaction_id: None,
        batch_unique_id: None,
        recall_handle: None,
        region_id: None,
        trace_on: None,
    })
}

/// A reply as a broker pushes it (wire §5.17), with these properties and the opaque 7.
pub(crate) fn pushed(properties: &str, sys_flag: i32, body: impl Into<Bytes>) -> RemotingCommand {
    let mut push = RemotingCommand::request(RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT)
        .with_ext(&PushReplyHeader {
            producer_group: "repliers".into(),
            topic: "DefaultCluster_REPLY_TOPIC".into(),
            default_topic: "TBW102".into(),
            default_topic_queue_nums: 4,
            queue_id: 0,
            sys_flag,
            born_timestamp: UNIX_MS as i64 - 2,
            flag: 3,
            properties: Some(properties.to_owned().into()),
            reconsume_times: Some(0),
            unit_mode: Some(false),
            born_host: "10.0.0.7:40001".into(),
            store_host: "10.0.0.1:10911".into(),
            store_timestamp: UNIX_MS as i64 - 1,
        })
        .with_body(body.into());
    push.opaque = 7;
    push
}

/// The reply `pong` to a request that arrived at a broker, as 4.9.7 pushes it: its properties have no last separator.
pub(crate) fn reply_to(request: &Seen) -> RemotingCommand {
    let text = request.send().properties.unwrap().into_owned();
    let id = properties::value(&text, properties::CORRELATION_ID).expect("a request has one");
    pushed(&format!("MSG_TYPE\u{1}reply\u{2}CORRELATION_ID\u{1}{id}"), 0, "pong")
}
