//! What is found of the ends of transactions, and of answers to checks.

use rmq_core::proto::header::CheckTransactionHeader;
use rmq_core::proto::message::StoredMessage;
use rmq_core::{CheckToken, EndTransactionError, Resolution};

use super::*;

impl Run {
    fn half(&mut self) -> SendResult {
        let message = Message::new("T", "Hello").prepare_half(self.client.message_rules(), "PG").unwrap();
        let op = self.client.send_half(self.now, self.producer, message, SendOptions::default().oneway());
        let op = op.unwrap();
        self.turn();
        match self.events.last() {
            Some(Event::Sent { op: of, result }) if *of == op => result.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, half: &SendResult) -> OpId {
        let long = "é".repeat(1_000);
        let end = self.client.end_transaction(self.now, self.producer, half, Resolution::Commit, Some(&long));
        end.unwrap()
    }

    fn check(&mut self) -> CheckToken {
        let mut body = BytesMut::new();
        let properties = "UNIQ_KEY\u{1}k\u{2}PGROUP\u{1}PG\u{2}".into();
        StoredMessage { topic: "T".into(), properties, ..StoredMessage::default() }
            .encode(&mut body)
            .unwrap();
        let check = RemotingCommand::request(RequestCode::CHECK_TRANSACTION_STATE);
        let check = check.with_body(body.freeze()).with_ext(&CheckTransactionHeader {
            topic: Some("RMQ_SYS_TRANS_HALF_TOPIC".into()),
            transaction_offset: 1,
            commit_log_offset: 2,
            message_id: Some("k".into()),
            transaction_id: Some("k".into()),
            offset_message_id: None,
            broker_name: Some("a".into()),
        });
        let conn = self.conns[1];
        self.input(Input::Received { conn, data: frame(&check) });
        self.turn();
        let token = self.events.iter().rev().find_map(|event| match event {
            Event::TransactionCheck { token, .. } => Some(*token),
            _ => None,
        });
        token.unwrap()
    }

    fn answer(&mut self, token: CheckToken) -> Result<OpId, RejectReason> {
        self.client.answer_check(self.now, token, Resolution::Rollback, Some("no"))
    }

    /// An end whose broker no route names.
    fn not_ended(&mut self) -> (OpId, EndTransactionError) {
        let mut half = self.half();
        half.queue.broker = "gone".into();
        let op = self.end(&half);
        self.turn();
        match self.events.last() {
            Some(Event::EndTransactionFailed { op: of, error }) if *of == op => (op, error.clone()),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn good_transactions_have_no_violation() {
    let mut run = Run::new();
    let half = run.half();
    let op = run.end(&half);
    run.turn();
    assert!(matches!(run.events.last(), Some(Event::TransactionEnded { op: of }) if *of == op));
    run.not_ended();
    let token = run.check();
    let op = run.answer(token).unwrap();
    assert_eq!(run.answer(token), Err(RejectReason::CheckOver));
    run.turn();
    assert!(matches!(run.events.last(), Some(Event::TransactionEnded { op: of }) if *of == op));
    let token = run.check();
    run.client.ignore_check(run.now, token);
    assert_eq!(run.answer(token), Err(RejectReason::CheckOver));
    let op = run.end(&half);
    run.client.cancel(run.now, op);
    run.turn();
    assert!(matches!(run.events.last(), Some(Event::Cancelled { op: of }) if *of == op));
    run.good();
    assert_eq!(run.client.violations(), 0);
}

#[test]
fn one_terminal_event_finds_ends_that_end_as_sends_do() {
    let mut run = Run::new();
    let half = run.half();
    let (_, error) = Run::new().not_ended();
    let token = run.check();
    let op = run.end(&half);
    run.event(Event::OnewayWritten { op });
    run.found(ONE_TERMINAL_EVENT, "the end of a transaction, is OnewayWritten");
    let op = run.answer(token).unwrap();
    run.event(Event::Sent { op, result: half });
    run.found(ONE_TERMINAL_EVENT, "the answer to a check, is Sent");
    let op = run.send(SendOptions::default().oneway());
    run.event(Event::TransactionEnded { op });
    run.found(ONE_TERMINAL_EVENT, "a one-way send, is TransactionEnded");
    let op = run.send(SendOptions::default());
    run.event(Event::EndTransactionFailed { op, error });
    run.found(ONE_TERMINAL_EVENT, "a two-way send, is EndTransactionFailed");
}

#[test]
fn one_terminal_event_finds_an_end_before_it_was_written() {
    let mut run = Run::new();
    let half = run.half();
    let op = run.end(&half);
    run.event(Event::TransactionEnded { op });
    run.found(ONE_TERMINAL_EVENT, "before its bytes were taken");
}

#[test]
fn within_policy_finds_an_answer_that_outlives_its_time() {
    let mut run = Run::new();
    run.sent();
    let token = run.check();
    let op = run.answer(token).unwrap();
    let stats = run.client.stats();
    let late = run.now + Duration::from_secs(3);
    run.good().advance(late);
    run.good().end_turn(Some(late + Duration::from_secs(1)), &stats);
    run.found(WITHIN_POLICY, &format!("{op:?}, due at"));
}
