//! What is found of requests.

use rmq_core::proto::header::PushReplyHeader;
use rmq_core::proto::properties::{CORRELATION_ID, value};
use rmq_core::{NoReplyError, Replied};

use super::*;

impl Run {
    fn request(&mut self) -> OpId {
        let message = Message::new("T", "Hello");
        let (rules, id) = (self.client.message_rules(), self.client.client_id());
        let request = message.prepare_request(rules, id, Duration::from_secs(3)).unwrap();
        self.client.send_request(self.now, self.producer, request).unwrap()
    }

    /// A broker pushes the reply to the newest request.
    fn push(&mut self) {
        let commands = self
            .writes
            .iter()
            .rev()
            .flat_map(|(conn, data)| commands(data).into_iter().rev().map(|command| (*conn, command)));
        let (conn, text) = commands
            .filter(|(_, command)| command.code == RequestCode::SEND_MESSAGE_V2.0)
            .map(|(conn, command)| {
                let header: SendMessageV2Header<'_> = command.header().unwrap();
                (conn, header.properties.unwrap().into_owned())
            })
            .next()
            .unwrap();
        let id = value(&text, CORRELATION_ID).unwrap();
        let push = RemotingCommand::request(RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT);
        let push = push.with_ext(&PushReplyHeader {
            producer_group: "g".into(),
            topic: "c_REPLY_TOPIC".into(),
            default_topic: "TBW102".into(),
            default_topic_queue_nums: 4,
            queue_id: 0,
            sys_flag: 0,
            born_timestamp: 0,
            flag: 0,
            properties: Some(format!("{CORRELATION_ID}\u{1}{id}\u{2}").into()),
            reconsume_times: None,
            unit_mode: None,
            born_host: "10.0.0.1:1".into(),
            store_host: "10.0.0.1:2".into(),
            store_timestamp: 0,
        });
        self.input(Input::Received { conn, data: frame(&push) });
    }

    fn replied(&mut self) -> (OpId, Box<Replied>) {
        let op = self.request();
        self.turn();
        self.push();
        self.turn();
        match self.events.last() {
            Some(Event::Replied { op: of, reply }) if *of == op => (op, reply.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn unreplied(&mut self) -> (OpId, NoReplyError) {
        let op = self.request();
        let mut error = None;
        while error.is_none() {
            self.turn();
            self.now = self.client.poll_timeout().unwrap();
            error = self.events.iter().find_map(|event| match event {
                Event::RequestFailed { op: of, error } if *of == op => Some(error.clone()),
                _ => None,
            });
        }
        (op, error.unwrap())
    }
}

#[test]
fn good_requests_have_no_violation() {
    let mut run = Run::new();
    run.replied();
    run.replied();
    let (_, error) = run.unreplied();
    assert!(error.request().is_ok(), "{error}");
    let op = run.request();
    run.turn();
    run.client.cancel(run.now, op);
    run.push();
    run.turn();
    run.answering = false;
    let (_, error) = run.unreplied();
    assert!(error.request().is_err(), "{error}");
    run.good();
    assert_eq!(run.client.violations(), 0);
}

#[test]
fn one_terminal_event_finds_requests_that_end_as_sends_do() {
    let mut run = Run::new();
    let (_, result) = run.sent();
    let mut other = Run::new();
    other.sent();
    let (_, error) = other.failed();
    let op = run.request();
    run.event(Event::Sent { op, result });
    run.found(ONE_TERMINAL_EVENT, "a request, is Sent");
    let op = run.request();
    run.event(Event::SendFailed { op, error });
    run.found(ONE_TERMINAL_EVENT, "a request, is SendFailed");
    let (_, reply) = Run::new().replied();
    let op = run.send(SendOptions::default());
    run.event(Event::Replied { op, reply });
    run.found(ONE_TERMINAL_EVENT, "a two-way send, is Replied");
    let (_, error) = Run::new().unreplied();
    let op = run.send(SendOptions::default());
    run.event(Event::RequestFailed { op, error });
    run.found(ONE_TERMINAL_EVENT, "a two-way send, is RequestFailed");
}

#[test]
fn one_terminal_event_finds_an_invented_reply() {
    let mut run = Run::new();
    let (_, reply) = run.replied();
    let op = run.request();
    run.turn();
    run.event(Event::Replied { op, reply });
    run.found(ONE_TERMINAL_EVENT, "no broker pushed");
}

#[test]
fn within_policy_finds_more_attempts_and_less_time_than_there_are() {
    let mut run = Run::new();
    let (_, mut reply) = run.replied();
    reply.attempts = 4;
    let op = run.request();
    run.event(Event::Replied { op, reply });
    run.found(WITHIN_POLICY, "after 4 attempts of 3");
    let (_, error) = Run::new().unreplied();
    let op = run.request();
    run.event(Event::RequestFailed { op, error });
    run.found(WITHIN_POLICY, "got no reply after 0ns");
}
