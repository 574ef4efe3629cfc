//! What is found of recalls.

use rmq_core::Recall;
use rmq_core::proto::recall::RecallHandle;

use super::*;

impl Run {
    fn recall(&mut self) -> OpId {
        let handle =
            RecallHandle { topic: "T".into(), broker_name: "a".into(), timestamp: 1, unique_key: "k".into() };
        let recall = Recall::new("T", handle.encode().unwrap()).unwrap();
        self.client.recall(self.now, self.producer, recall).unwrap()
    }
}

#[test]
fn good_recalls_have_no_violation() {
    let mut run = Run::new();
    let op = run.recall();
    run.turn();
    assert!(matches!(run.events.last(), Some(Event::Recalled { op: of, .. }) if *of == op));
    run.answering = false;
    let op = run.recall();
    for _ in 0..10 {
        run.turn();
        run.now = run.client.poll_timeout().unwrap_or(run.now);
    }
    assert!(run.events.iter().any(|event| matches!(event, Event::RecallFailed { op: of, .. } if *of == op)));
    run.good();
}

#[test]
fn one_terminal_event_finds_recalls_that_end_as_others_do() {
    let mut run = Run::new();
    let (_, result) = run.sent();
    let (_, error) = run.failed();
    let op = run.recall();
    run.event(Event::Sent { op, result });
    run.found(ONE_TERMINAL_EVENT, "a recall, is Sent");
    let op = run.recall();
    run.event(Event::SendFailed { op, error });
    run.found(ONE_TERMINAL_EVENT, "a recall, is SendFailed");
    let op = run.send(SendOptions::default());
    run.event(Event::Recalled { op, message_id: "k".into() });
    run.found(ONE_TERMINAL_EVENT, "a two-way send, is Recalled");
}

#[test]
fn one_terminal_event_finds_an_invented_recall() {
    let mut run = Run::new();
    run.answering = false;
    let op = run.recall();
    run.turn();
    run.event(Event::Recalled { op, message_id: "k".into() });
    run.found(ONE_TERMINAL_EVENT, "no broker said so");
}
