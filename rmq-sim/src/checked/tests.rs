//! Each oracle can fail: a good run up to a point, then something that no client may do. `Model` is told of it alone.

mod recalls;
mod requests;
mod send_backs;

use bytes::{Bytes, BytesMut};
use rmq_core::proto::body::{BrokerData, QueueData, TopicRouteData};
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::frame::FrameDecoder;
use rmq_core::proto::header::{RecallResponseHeader, SendMessageV2Header, SendResponseHeader};
use rmq_core::proto::message::Message;
use rmq_core::{
    CloseReason, ConnId, Event, Identity, Limits, RejectReason, SendError, SendOptions, SendResult, WriteData,
};

use super::call::{Call, Kind};
use super::frames::Frames;
use super::*;

/// A checked client, peers that answer at once, and what happened.
struct Run {
    client: CheckedClient,
    producer: ProducerId,
    now: Instant,
    answering: bool,
    conns: Vec<ConnId>,
    writes: Vec<(ConnId, WriteData)>,
    events: Vec<Event>,
}

fn route() -> TopicRouteData {
    let queue = QueueData {
        broker_name: "a".into(),
        read_queue_nums: 4,
        write_queue_nums: 4,
        perm: 6,
        topic_sys_flag: 0,
    };
    let broker = BrokerData {
        cluster: "c".into(),
        broker_name: "a".into(),
        addresses: [(0, "a:10911".into())].into(),
        ..BrokerData::default()
    };
    TopicRouteData { queue_datas: vec![queue], broker_datas: vec![broker], ..TopicRouteData::default() }
}

fn answer(request: &RemotingCommand) -> RemotingCommand {
    let success = RemotingCommand::response_to(request, ResponseCode::SUCCESS);
    match RequestCode(request.code) {
        RequestCode::GET_ROUTEINFO_BY_TOPIC => success.with_body(route().encode()),
        RequestCode::SEND_MESSAGE_V2 => success.with_ext(&SendResponseHeader {
            message_id: "0A00000100002A9F0000000000000400".into(),
            queue_id: request.header::<SendMessageV2Header<'_>>().unwrap().queue_id,
            queue_offset: 0,
            transaction_id: None,
            batch_unique_id: None,
            recall_handle: None,
            region_id: None,
            trace_on: None,
        }),
        RequestCode::RECALL_MESSAGE => success.with_ext(&RecallResponseHeader { message_id: "k".into() }),
        _ => success,
    }
}

fn frame(command: &RemotingCommand) -> Bytes {
    let mut out = BytesMut::new();
    command.encode(HeaderFormat::Json, &mut out).unwrap();
    out.freeze()
}

fn commands(data: &WriteData) -> Vec<RemotingCommand> {
    let mut bytes = Bytes::from(data.segments().concat());
    let mut decoder = FrameDecoder::default();
    core::iter::from_fn(|| decoder.decode(&mut bytes).unwrap())
        .map(|frame| RemotingCommand::decode(frame).unwrap())
        .collect()
}

impl Run {
    fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let config = ClientConfig::builder().name_server("ns:9876").limits(limits).build().unwrap();
        let identity = Identity { ip: [10, 0, 0, 9].into(), pid: 1 };
        let start = Start { now: Instant::ZERO, unix_ms: 1_700_000_000_000, seed: 1, identity };
        let mut client = CheckedClient::new(config, start);
        let producer = client.add_producer(Instant::ZERO, ProducerConfig::new("PG")).unwrap();
        let (conns, writes, events) = (Vec::new(), Vec::new(), Vec::new());
        Self { client, producer, now: Instant::ZERO, answering: true, conns, writes, events }
    }

    fn send(&mut self, options: SendOptions) -> OpId {
        let message = Message::new("T", "Hello").prepare(self.client.message_rules()).unwrap();
        self.client.send(self.now, self.producer, message, options).unwrap()
    }

    fn input(&mut self, input: Input) {
        self.client.handle_input(self.now, input);
    }

    fn turn(&mut self) {
        self.client.handle_timeout(self.now);
        while let Some(output) = self.client.poll_output() {
            match output {
                Output::Connect { conn, .. } => {
                    self.conns.push(conn);
                    self.input(Input::Connected { conn });
                }
                Output::Write { conn, data } => {
                    self.input(Input::Written { conn, bytes: data.len() });
                    for command in commands(&data).iter().filter(|_| self.answering) {
                        if !command.is_oneway() {
                            self.client.handle_input(
                                self.now,
                                Input::Received { conn, data: frame(&answer(command)) },
                            );
                        }
                    }
                    self.writes.push((conn, data));
                }
                Output::Close { .. } => {}
                Output::Event(event) => self.events.push(event),
            }
        }
        self.client.end_turn(self.now);
    }

    /// One send from end to end: its end, and the write that it was.
    fn sent(&mut self) -> (OpId, SendResult) {
        let op = self.send(SendOptions::default());
        self.turn();
        match self.events.last() {
            Some(Event::Sent { op: of, result }) if *of == op => (op, result.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn failed(&mut self) -> (OpId, SendError) {
        self.answering = false;
        let op = self.send(SendOptions::default());
        for _ in 0..10 {
            self.turn();
            self.now = self.client.poll_timeout().unwrap();
        }
        let error = self.events.iter().find_map(|event| match event {
            Event::SendFailed { op: of, error } if *of == op => Some(error.clone()),
            _ => None,
        });
        (op, error.unwrap())
    }

    fn good(&mut self) -> &mut Model {
        assert_eq!(self.client.take_violation(), None);
        &mut self.client.model
    }

    fn event(&mut self, event: Event) {
        self.good().output(&Output::Event(event));
    }

    #[track_caller]
    fn found(&mut self, oracle: &str, detail: &str) {
        let violation = self.client.take_violation().expect("something is wrong");
        assert_eq!(violation.oracle, oracle, "{violation}");
        assert!(violation.detail.contains(detail), "{violation}");
    }
}

#[test]
fn a_good_run_has_no_violation() {
    let mut run = Run::new();
    run.sent();
    run.sent();
    let oneway = run.send(SendOptions::default().oneway());
    run.turn();
    assert!(matches!(run.events.last(), Some(Event::OnewayWritten { op }) if *op == oneway));
    run.failed();
    run.answering = true;
    let op = run.send(SendOptions::default());
    run.client.cancel(run.now, op);
    run.turn();
    run.client.shutdown(run.now, Duration::from_secs(1));
    for _ in 0..5 {
        run.turn();
        run.now = run.client.poll_timeout().unwrap_or(run.now);
    }
    assert!(matches!(run.events.last(), Some(Event::ShutDown)));
    run.good();
    assert_eq!(run.client.violations(), 0);
}

#[test]
fn one_terminal_event_finds_a_second_end() {
    let mut run = Run::new();
    let (op, result) = run.sent();
    run.event(Event::Sent { op, result });
    run.found(ONE_TERMINAL_EVENT, "has ended already");
}

#[test]
fn one_terminal_event_finds_an_unknown_operation() {
    let mut other = Run::new();
    let ops: Vec<_> = (0..5).map(|_| other.send(SendOptions::default())).collect();
    let mut run = Run::new();
    run.sent();
    run.event(Event::Cancelled { op: ops[4] });
    run.found(ONE_TERMINAL_EVENT, "was never accepted");
}

#[test]
fn one_terminal_event_finds_the_wrong_kind_of_end() {
    let mut run = Run::new();
    let (_, result) = run.sent();
    run.answering = false;
    let oneway = run.send(SendOptions::default().oneway());
    run.event(Event::Sent { op: oneway, result });
    run.found(ONE_TERMINAL_EVENT, "one-way");
    let op = run.send(SendOptions::default());
    run.event(Event::OnewayWritten { op });
    run.found(ONE_TERMINAL_EVENT, "two-way");
    let op = run.send(SendOptions::default());
    run.event(Event::Cancelled { op });
    run.found(ONE_TERMINAL_EVENT, "nobody asked for");
    let op = run.send(SendOptions::default().oneway());
    run.event(Event::OnewayWritten { op });
    run.found(ONE_TERMINAL_EVENT, "before its bytes were taken");
}

#[test]
fn one_terminal_event_finds_an_id_given_out_twice() {
    let mut run = Run::new();
    let (op, _) = run.sent();
    let message = Message::new("T", "Hello").prepare(run.client.message_rules()).unwrap();
    let call = Call::new(Kind::Send, run.producer, &message, SendOptions::default());
    run.good().accepted(op, call);
    run.found(ONE_TERMINAL_EVENT, "was given out after");
}

#[test]
fn one_terminal_event_finds_an_invented_success() {
    let mut run = Run::new();
    let (_, mut result) = run.sent();
    run.answering = false;
    let op = run.send(SendOptions::default());
    run.turn();
    let written = commands(&run.writes.last().unwrap().1);
    let header: SendMessageV2Header<'_> = written[0].header().unwrap();
    let key = header.properties.unwrap();
    result.message_id = rmq_core::proto::properties::value(&key, "UNIQ_KEY").unwrap().to_owned();
    run.event(Event::Sent { op, result });
    run.found(ONE_TERMINAL_EVENT, "no broker said so");
}

#[test]
fn one_terminal_event_finds_what_comes_of_a_shut_down_client() {
    let mut run = Run::new();
    run.sent();
    run.event(Event::ShutDown);
    run.found(ONE_TERMINAL_EVENT, "asked for: false");
    run.event(Event::ShutDown);
    run.found(ONE_TERMINAL_EVENT, "after ShutDown");
}

#[test]
fn no_spin_finds_a_timer_that_is_due() {
    let mut run = Run::new();
    run.sent();
    let (now, stats) = (run.now, run.client.stats());
    run.good().end_turn(Some(now), &stats);
    run.found(NO_SPIN, "the next timer");
}

#[test]
fn one_write_finds_writes_that_may_not_be() {
    let mut run = Run::new();
    run.sent();
    let (conn, data) = run.writes.last().unwrap().clone();
    run.good().watch_frames(false);
    run.good().output(&Output::Write { conn, data: WriteData::default() });
    run.found(ONE_WRITE, "empty");
    run.good().output(&Output::Write { conn, data: data.clone() });
    run.good().output(&Output::Write { conn, data: data.clone() });
    run.found(ONE_WRITE, "are outstanding");
    run.input(Input::Closed { conn, reason: CloseReason::PeerClosed });
    run.good().output(&Output::Write { conn, data });
    run.found(ONE_WRITE, "which is Some(Ended)");
}

#[test]
fn one_write_finds_a_batch_that_is_too_long() {
    let mut run = Run::new();
    run.sent();
    for _ in 0..3 {
        run.send(SendOptions::default());
    }
    run.turn();
    let (conn, data) = run.writes.last().unwrap().clone();
    assert_eq!(commands(&data).len(), 3);
    let mut small = Run::with(Limits { write_batch: 600, ..Limits::default() });
    small.sent();
    small.good().watch_frames(false);
    small.good().output(&Output::Write { conn, data });
    small.found(ONE_WRITE, "several frames");
}

#[test]
fn one_write_finds_connections_used_again() {
    let mut run = Run::new();
    run.sent();
    let conn = run.conns[1];
    let address: rmq_core::Address = "a:10911".parse().unwrap();
    run.good().output(&Output::Connect { conn, address });
    run.found(ONE_WRITE, "for the second time");
    run.good().output(&Output::Close { conn });
    run.good().output(&Output::Close { conn });
    run.found(ONE_WRITE, "is gone");
}

#[test]
fn one_write_allows_a_close_that_crossed_an_end_once() {
    let mut run = Run::new();
    run.sent();
    let conn = run.conns[1];
    run.good().input(&Input::Closed { conn, reason: CloseReason::PeerClosed });
    run.good().output(&Output::Close { conn });
    let conn = run.conns[0];
    run.good().input(&Input::Closed { conn, reason: CloseReason::PeerClosed });
    run.good().drained();
    run.good().output(&Output::Close { conn });
    run.found(ONE_WRITE, "is gone");
}

#[test]
fn within_limits_finds_gauges_and_counters_that_are_wrong() {
    type Change = fn(&mut Stats);
    let rows: [(Change, &str); 8] = [
        (|stats| stats.operations += 1, "operations: 1 told, 0 seen"),
        (|stats| stats.operations = 100_000, "operations: 100000, at most 65536"),
        (|stats| stats.operation_bytes = 1, "operation_bytes: 1 told"),
        (|stats| stats.connections -= 1, "connections: 1 told, 2 seen"),
        (|stats| stats.queued = 1_000, "queued: 1000"),
        (|stats| stats.timers = 1_000, "timers: 1000"),
        (|stats| stats.bytes_written = 0, "bytes_written went from"),
        (|stats| stats.misuses += 1, "misuses: 1 told, 0 seen"),
    ];
    for (change, detail) in rows {
        let mut run = Run::new();
        run.sent();
        let (next, mut stats) = (run.client.poll_timeout(), run.client.stats());
        change(&mut stats);
        run.good().end_turn(next, &stats);
        run.found(WITHIN_LIMITS, detail);
    }
}

#[test]
fn within_limits_finds_an_untrue_reason() {
    let mut run = Run::new();
    let message = Message::new("T", "Hello").prepare(run.client.message_rules()).unwrap();
    let call = Call::new(Kind::Send, run.producer, &message, SendOptions::default());
    for reason in [
        RejectReason::ShutDown,
        RejectReason::UnknownProducer,
        RejectReason::TooManyOperations { limit: 65_536 },
        RejectReason::TooManyBytes { held: 0, more: 80, limit: 256 << 20 },
    ] {
        run.good().rejected(call, reason);
        run.found(WITHIN_LIMITS, "with 0 operations");
    }
}

#[test]
fn within_policy_finds_an_operation_that_outlives_its_time() {
    let mut run = Run::new();
    run.send(SendOptions::default().timeout(Duration::from_secs(1)));
    run.turn();
    run.answering = false;
    let op = run.send(SendOptions::default().timeout(Duration::from_secs(1)));
    run.turn();
    let stats = run.client.stats();
    let late = Instant::from_millis(1_001);
    run.good().end_turn(Some(late), &stats);
    run.found(WITHIN_POLICY, "the next timer");
    run.good().advance(late);
    run.good().end_turn(Some(late + Duration::from_secs(1)), &stats);
    run.found(WITHIN_POLICY, &format!("{op:?}, due at"));
}

#[test]
fn within_policy_finds_a_shutdown_that_outlives_its_time() {
    let mut run = Run::new();
    run.sent();
    run.good().shutdown(Duration::ZERO);
    let (next, stats) = (run.client.poll_timeout(), run.client.stats());
    run.good().end_turn(next, &stats);
    run.found(WITHIN_POLICY, "the shutdown");
}

#[test]
fn within_policy_finds_attempts_and_times_that_cannot_be() {
    let mut run = Run::new();
    let (_, mut result) = run.sent();
    let op = run.send(SendOptions::default());
    result.attempts = 4;
    run.event(Event::Sent { op, result });
    run.found(WITHIN_POLICY, "attempt 4 of 3");

    let mut run = Run::new();
    run.sent();
    let (_, error) = run.failed();
    assert_eq!(error.attempts().len(), 3);
    let op = run.send(SendOptions::default());
    run.event(Event::SendFailed { op, error: error.clone() });
    run.found(WITHIN_POLICY, "says it took");
    let op = run.send(SendOptions::default().oneway());
    run.event(Event::SendFailed { op, error });
    run.found(WITHIN_POLICY, "after 3 attempts of 1");
}

/// Frames looked into, with an open connection.
fn frames(run: &Run) -> (Frames, ConnId) {
    let mut frames = Frames::new(1 << 20);
    frames.opened(run.conns[1]);
    (frames, run.conns[1])
}

fn send_frame(run: &mut Run) -> RemotingCommand {
    run.sent();
    commands(&run.writes.last().unwrap().1).pop().unwrap()
}

#[test]
fn frames_decode_finds_bytes_that_are_no_frames() {
    let mut run = Run::new();
    let request = send_frame(&mut run);
    let whole = frame(&request);
    let mut unknown = request.clone();
    unknown.code = 9_999;
    let mut short = RemotingCommand::request(RequestCode::SEND_MESSAGE_V2);
    short.opaque = 77;
    let rows = [
        (whole.slice(..whole.len() - 1), "bytes into a frame"),
        (Bytes::from_static(b"\xff\xff\xff\xff"), "negative"),
        (Bytes::from_static(b"\0\0\0\x06\0\0\0\x02no"), "written on"),
        (frame(&unknown), "an unknown request"),
        (frame(&short), "request 310"),
    ];
    for (bytes, detail) in rows {
        let (mut frames, conn) = frames(&run);
        let violation = frames.write(conn, &[bytes], 0).unwrap_err();
        assert_eq!(violation.oracle, FRAMES_DECODE);
        assert!(violation.detail.contains(detail), "{violation}");
    }
}

#[test]
fn unique_opaque_finds_one_that_waits_already() {
    let mut run = Run::new();
    let request = send_frame(&mut run);
    let (mut frames, conn) = frames(&run);
    let bytes = [frame(&request)];
    assert_eq!(frames.write(conn, &bytes, 0), Ok(()));
    let answered = frame(&answer(&request));
    frames.received(conn, answered.slice(..20));
    assert_eq!(frames.write(conn, &bytes, 0).unwrap_err().oracle, UNIQUE_OPAQUE);
    frames.received(conn, answered.slice(20..));
    assert_eq!(frames.write(conn, &bytes, 0), Ok(()), "the answer was received in full");
}

#[test]
fn one_key_finds_two_messages_with_one_key() {
    let mut run = Run::new();
    let request = send_frame(&mut run);
    let mut other = request.clone();
    (other.opaque, other.body) = (request.opaque + 1, Bytes::from_static(b"another"));
    let (mut frames, conn) = frames(&run);
    assert_eq!(frames.write(conn, &[frame(&request)], 0), Ok(()));
    assert_eq!(frames.write(conn, &[frame(&other)], 0).unwrap_err().oracle, ONE_KEY);

    let (_, result) = run.sent();
    let op = run.send(SendOptions::default());
    run.event(Event::Sent { op, result });
    run.found(ONE_KEY, "two messages");
}

#[test]
fn one_terminal_event_finds_a_write_after_the_end() {
    let mut run = Run::new();
    let mut request = send_frame(&mut run);
    request.opaque += 1_000;
    let conn = run.conns[1];
    let mut oneway = request.clone();
    oneway.flag = 2;
    let frames = run.good().frames_mut().unwrap();
    let violation = frames.write(conn, &[frame(&request)], 0).unwrap_err();
    assert_eq!(violation.oracle, ONE_TERMINAL_EVENT);
    assert!(violation.detail.contains("after its end"), "{violation}");
    let (mut fresh, conn) = self::frames(&run);
    let violation = fresh.write(conn, &[frame(&oneway)], 0).unwrap_err();
    assert!(violation.detail.contains("one-way requests are written for 0 sends"), "{violation}");
}

#[test]
fn within_policy_finds_more_writes_than_attempts() {
    let mut run = Run::new();
    let mut request = send_frame(&mut run);
    let (mut frames, conn) = frames(&run);
    for opaque in 0..3 {
        request.opaque = opaque;
        frames.write(conn, &[frame(&request)], 0).unwrap();
    }
    let Some(event) = run.events.last() else { panic!("it was sent") };
    let violation = frames.event(event).unwrap_err();
    assert_eq!(violation.oracle, WITHIN_POLICY, "{violation}");
}
