//! What is found of send-backs.

use rmq_core::proto::message::StoredMessage;
use rmq_core::{Redelivery, SendBack, SendBackError, SendBackErrorKind, SendBackOptions, SentBack};

use super::*;

impl Run {
    fn send_back(&mut self, redelivery: Redelivery) -> OpId {
        let stored = StoredMessage { topic: "T".into(), body: "Hello".into(), ..StoredMessage::default() };
        let message = SendBack::new("g", &stored).unwrap().redelivery(redelivery);
        self.client.send_back(self.now, self.producer, message, SendBackOptions::default()).unwrap()
    }

    fn back_failed(&mut self, redelivery: Redelivery) -> (OpId, SendBackError) {
        self.answering = false;
        let op = self.send_back(redelivery);
        for _ in 0..100 {
            self.turn();
            self.now = self.client.poll_timeout().unwrap_or(self.now);
        }
        let error = self.events.iter().find_map(|event| match event {
            Event::SendBackFailed { op: of, error } if *of == op => Some(error.clone()),
            _ => None,
        });
        (op, error.unwrap())
    }
}

#[test]
fn good_send_backs_have_no_violation() {
    let mut run = Run::new();
    let op = run.send_back(Redelivery::ByBroker);
    run.turn();
    assert!(matches!(run.events.last(), Some(Event::SentBack { op: of, .. }) if *of == op));
    let (_, error) = run.back_failed(Redelivery::ByBroker);
    assert!(matches!(error.kind(), SendBackErrorKind::RetryFailed(_)));
    run.back_failed(Redelivery::DeadLetter);
    // The turn in which the time of its broker is over comes an hour late: its retry has its time all the same.
    let op = run.send_back(Redelivery::ByBroker);
    run.turn();
    run.now = run.now + Duration::from_secs(3_600);
    run.turn();
    for _ in 0..100 {
        run.now = run.client.poll_timeout().unwrap_or(run.now);
        run.turn();
    }
    assert!(
        run.events.iter().any(|event| matches!(event, Event::SendBackFailed { op: of, .. } if *of == op))
    );
    run.good();
}

#[test]
fn one_terminal_event_finds_send_backs_that_end_as_sends_do() {
    let mut run = Run::new();
    let (_, result) = run.sent();
    let (_, error) = run.failed();
    let op = run.send_back(Redelivery::ByBroker);
    run.event(Event::Sent { op, result });
    run.found(ONE_TERMINAL_EVENT, "a send-back, is Sent");
    let op = run.send_back(Redelivery::ByBroker);
    run.event(Event::SendFailed { op, error });
    run.found(ONE_TERMINAL_EVENT, "a send-back, is SendFailed");
    let op = run.send(SendOptions::default());
    run.event(Event::SentBack { op, how: SentBack::ByBroker });
    run.found(ONE_TERMINAL_EVENT, "a two-way send, is SentBack");
}

#[test]
fn one_terminal_event_finds_invented_answers() {
    let mut run = Run::new();
    let (_, result) = run.sent();
    for how in [SentBack::ByBroker, SentBack::RetryTopic(result)] {
        let mut run = Run::new();
        run.answering = false;
        let op = run.send_back(Redelivery::ByBroker);
        run.turn();
        run.event(Event::SentBack { op, how });
        run.found(ONE_TERMINAL_EVENT, "no broker said so");
    }
}

#[test]
fn within_policy_finds_a_dead_letter_in_the_retry_topic() {
    let mut run = Run::new();
    let (_, result) = run.sent();
    let op = run.send_back(Redelivery::DeadLetter);
    run.event(Event::SentBack { op, how: SentBack::RetryTopic(result) });
    run.found(WITHIN_POLICY, "a dead letter, was sent back so");
    let (_, error) = Run::new().back_failed(Redelivery::ByBroker);
    let op = run.send_back(Redelivery::DeadLetter);
    run.event(Event::SendBackFailed { op, error });
    run.found(WITHIN_POLICY, "a dead letter, failed");
}

#[test]
fn within_policy_finds_more_attempts_and_more_time_than_there_are() {
    let mut run = Run::new();
    let (_, mut result) = run.sent();
    result.attempts = 4;
    let op = run.send_back(Redelivery::ByBroker);
    run.event(Event::SentBack { op, how: SentBack::RetryTopic(result) });
    run.found(WITHIN_POLICY, "attempts: 4");
    let (_, error) = Run::new().back_failed(Redelivery::ByBroker);
    let op = run.send_back(Redelivery::ByBroker);
    run.event(Event::SendBackFailed { op, error });
    run.found(WITHIN_POLICY, "it took");
}

#[test]
fn within_policy_finds_a_send_back_that_outlives_its_time() {
    let mut run = Run::new();
    run.answering = false;
    run.send_back(Redelivery::ByBroker);
    run.turn();
    let stats = run.client.stats();
    let model = run.good();
    // Its broker's time is over at 5 s, that of its retry three seconds after the turn that noticed.
    model.advance(Instant::from_millis(6_000));
    model.end_turn(Some(Instant::from_millis(8_000)), &stats);
    model.advance(Instant::from_millis(9_000));
    model.end_turn(Some(Instant::from_millis(10_000)), &stats);
    run.found(WITHIN_POLICY, "has not ended");
}
