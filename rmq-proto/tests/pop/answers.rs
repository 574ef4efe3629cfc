use proptest::prelude::*;
use rmq_proto::names::RetryMark::{Normal, RetryV1, RetryV2};
use rmq_proto::pop::{
    PopAnswer, PopError, Popped, PoppedMessage, Receipt, ReceiptError, parse_message_offsets,
    parse_order_counts, parse_start_offsets,
};

use crate::{joined, list, queue, queues};

const ANSWER: PopAnswer<'_> = PopAnswer {
    pop_time: 1_700_000_000_100,
    invisible_time: 60_000,
    revive_queue_id: 3,
    broker_name: "broker-a",
    start_offset_info: Some("0 1 7;1 0 3"),
    msg_offset_info: Some("0 1 7,8;1 0 3"),
    order_count_info: None,
};

fn message(topic: &str, queue_id: i32, queue_offset: i64) -> PoppedMessage<'_> {
    PoppedMessage { topic, queue_id, queue_offset, receipt: None }
}

/// The receipts, without what all of them have alike.
fn made(answer: &PopAnswer<'_>, messages: &[PoppedMessage<'_>]) -> Result<Vec<String>, PopError> {
    let popped = answer.receipts(messages.iter().copied())?;
    Ok(popped.into_iter().map(|popped| popped.receipt.replace("1700000000100 60000 3", "_")).collect())
}

#[test]
fn receipts_of_an_answer() {
    let messages = [message("orders", 1, 7), message("%RETRY%billing_orders", 0, 3), message("orders", 1, 8)];
    assert_eq!(
        ANSWER.receipts(messages),
        Ok([
            "7 1700000000100 60000 3 0 broker-a 1 7",
            "3 1700000000100 60000 3 1 broker-a 0 3",
            "7 1700000000100 60000 3 0 broker-a 1 8",
        ]
        .map(|receipt| Popped { receipt: receipt.to_owned(), reconsume_times: None })
        .to_vec())
    );
    assert_eq!(ANSWER.receipts([]), Ok(Vec::new()));
}

#[test]
fn the_answer_knows_the_offsets_better() {
    let answer = PopAnswer {
        start_offset_info: Some("0 1 70;2 0 3"),
        msg_offset_info: Some("0 1 70,80;2 0 3"),
        ..ANSWER
    };
    let messages = [message("t", 1, 7), message("t", 1, 8), message("%RETRY%g+t", 0, 1)];
    let expected = ["70 _ 0 broker-a 1 70", "70 _ 0 broker-a 1 80", "3 _ 2 broker-a 0 3"];
    assert_eq!(made(&answer, &messages), Ok(expected.map(str::to_owned).to_vec()));
}

#[test]
fn a_message_that_is_missing_does_not_give_its_offset_away() {
    let told = |offsets| PopAnswer { msg_offset_info: Some(offsets), ..ANSWER };
    let answer = told("0 1 7,8,9;1 0 3");
    let receipt = |offset: i64| format!("7 _ 0 broker-a 1 {offset}");
    // Offsets of the messages whose records could be read.
    for left in [&[8, 9][..], &[7, 9], &[7, 8], &[9], &[]] {
        let messages: Vec<_> = left.iter().map(|offset| message("t", 1, *offset)).collect();
        let expected = left.iter().map(|offset| receipt(*offset)).collect();
        assert_eq!(made(&answer, &messages), Ok(expected), "{left:?}");
    }
    // One that came with its receipt takes no other's place.
    let own = "7 1700000000100 60000 3 0 broker-a 1 9";
    let kept = PoppedMessage { receipt: Some(own), ..message("t", 1, 9) };
    assert_eq!(made(&answer, &[kept, message("t", 1, 8)]), Ok(vec![receipt(9), receipt(8)]));
    // What the messages say is of no use here: any of the offsets may be theirs.
    let error = PopError::NoMessageOffset { queue: queue(Normal, 1), index: 0 };
    assert_eq!(made(&told("0 1 70,80"), &[message("t", 1, 7)]), Err(error));
}

#[test]
fn without_start_offsets_the_messages_say() {
    for start_offset_info in [None, Some("")] {
        let answer = PopAnswer { start_offset_info, ..ANSWER };
        let messages = [
            message("t", 1, 7),
            message("t", 2, 5),
            message("t", 1, 9),
            message("%RETRY%g_t", 1, 0),
            message("%RETRY%g_t", 1, 4),
        ];
        let expected = [
            "7 _ 0 broker-a 1 7",
            "5 _ 0 broker-a 2 5",
            "7 _ 0 broker-a 1 9",
            "0 _ 1 broker-a 1 0",
            "0 _ 1 broker-a 1 4",
        ];
        assert_eq!(made(&answer, &messages), Ok(expected.map(str::to_owned).to_vec()));
    }
}

#[test]
fn a_message_keeps_its_receipt() {
    let answer = PopAnswer {
        start_offset_info: Some("0 0 7;1 0 3"),
        msg_offset_info: Some("0 0 7,8;1 0 3,4"),
        order_count_info: Some("0 0 2;1 0 2"),
        ..ANSWER
    };
    let own = "3 99 98 97 1 broker-a 0 3";
    let messages = [
        message("t", 0, 7),
        // The broker put the plain topic in; the receipt says that it is of the retry topic.
        PoppedMessage { receipt: Some(own), ..message("t", 0, 3) },
        message("t", 0, 8),
        message("%RETRY%g_t", 0, 4),
    ];
    let popped = answer.receipts(messages).expect("all are told of");
    let receipts: Vec<_> = popped.iter().map(|popped| popped.receipt.as_str()).collect();
    assert_eq!(
        receipts,
        [
            "7 1700000000100 60000 3 0 broker-a 0 7",
            own,
            "7 1700000000100 60000 3 0 broker-a 0 8",
            "3 1700000000100 60000 3 1 broker-a 0 4",
        ]
    );
    let counts: Vec<_> = popped.iter().map(|popped| popped.reconsume_times).collect();
    assert_eq!(counts, [Some(2), None, Some(2), Some(2)]);
}

#[test]
fn a_receipt_that_acknowledges_nothing_is_made_anew() {
    let answer =
        PopAnswer { start_offset_info: Some("0 0 7;1 0 3"), msg_offset_info: Some("0 0 7;1 0 3"), ..ANSWER };
    let rows = [
        ("", "7 _ 0 broker-a 0 7"),
        ("junk", "7 _ 0 broker-a 0 7"),
        // Without an offset; it still says which topic.
        ("3 99 98 97 1 broker-a 0", "3 _ 1 broker-a 0 3"),
    ];
    for (receipt, expected) in rows {
        let messages = [PoppedMessage { receipt: Some(receipt), ..message("t", 0, 7) }];
        assert_eq!(made(&answer, &messages), Ok(vec![expected.to_owned()]), "{receipt:?}");
    }
}

#[test]
fn counts_of_ordered_messages() {
    let answer = PopAnswer { order_count_info: Some("0 1 2;0 qo1%8 5"), ..ANSWER };
    let messages = [message("t", 1, 7), message("t", 1, 8), message("%RETRY%g_t", 0, 3)];
    let popped = answer.receipts(messages).expect("all are told of");
    let counts: Vec<_> = popped.iter().map(|popped| popped.reconsume_times).collect();
    assert_eq!(counts, [Some(2), Some(5), None]);
}

#[test]
fn answers_that_do_not_tell() {
    let told =
        |start, offsets| PopAnswer { start_offset_info: Some(start), msg_offset_info: offsets, ..ANSWER };
    let no_offset = |index| PopError::NoMessageOffset { queue: queue(Normal, 1), index };
    let rows = [
        (told("0 2 7", Some("0 1 7,8")), PopError::NoStartOffset { queue: queue(Normal, 1) }),
        (told("1 1 7", Some("0 1 7,8")), PopError::NoStartOffset { queue: queue(Normal, 1) }),
        (told("0 1 7", None), no_offset(0)),
        (told("0 1 7", Some("")), no_offset(0)),
        (told("0 1 7", Some("1 1 7,8")), no_offset(0)),
        (told("0 1 7", Some("0 1 7")), no_offset(1)),
        (told("0 1 7", Some("0 1 8")), no_offset(0)),
        (told("0 1", Some("0 1 7,8")), PopError::Parts { field: "startOffsetInfo", offset: 0, found: 2 }),
        (told("0 1 7", Some("0 1 7;")), PopError::Parts { field: "msgOffsetInfo", offset: 6, found: 1 }),
        (
            PopAnswer { order_count_info: Some("0 1 x"), ..ANSWER },
            PopError::Number { field: "orderCountInfo", offset: 4 },
        ),
        (PopAnswer { broker_name: "broker a", ..ANSWER }, PopError::Receipt(ReceiptError::BrokerName)),
    ];
    for (answer, error) in rows {
        assert_eq!(answer.receipts([message("t", 1, 7), message("t", 1, 8)]), Err(error), "{answer:?}");
    }
}

#[test]
fn messages_say_what_is_wrong() {
    let rows = [
        (
            PopError::NoMessageOffset { queue: queue(RetryV2, 3), index: 1 }.to_string(),
            "`msgOffsetInfo` does not tell of message 1 of 2@3",
        ),
        (
            parse_start_offsets("0 1").expect_err("two parts").to_string(),
            "the item at byte 0 of `startOffsetInfo` has 2 parts, not 3",
        ),
        (
            Receipt::parse("7 x").expect_err("no number").to_string(),
            "the receipt of a popped message has no number at byte 2, where `popTime` is to be",
        ),
    ];
    for (error, text) in rows {
        assert_eq!(error, text);
    }
}

proptest! {
    #[test]
    fn each_message_of_an_answer_gets_its_offset(
        told in queues((any::<i64>(), proptest::collection::vec(any::<i64>(), 1..6))),
        turns in proptest::collection::vec(any::<proptest::sample::Index>(), 40),
    ) {
        let starts = joined(&told, |(start, _)| start.to_string());
        let offsets = joined(&told, |(_, offsets)| list(offsets));
        let answer = PopAnswer { start_offset_info: Some(&starts), msg_offset_info: Some(&offsets), ..ANSWER };
        // Messages of all queues, mixed, those of each queue in order.
        let mut left: Vec<_> = told.iter().map(|(queue, (start, offsets))| (*queue, *start, offsets.as_slice())).collect();
        let (mut messages, mut expected) = (Vec::new(), Vec::new());
        for turn in turns {
            let (queue, start, offsets) = &mut left[turn.index(told.len())];
            let [offset, rest @ ..] = *offsets else { continue };
            *offsets = rest;
            let topic = match queue.retry { Normal => "t", RetryV1 => "%RETRY%g_t", RetryV2 => "%RETRY%g+t" };
            messages.push(message(topic, queue.queue_id, *offset));
            expected.push((queue.retry, queue.queue_id, *start, Some(*offset)));
        }
        let popped = answer.receipts(messages).expect("all are told of");
        let receipts: Vec<_> = popped.iter().map(|popped| Receipt::parse(&popped.receipt).expect("ours")).collect();
        let read: Vec<_> = receipts.iter().map(|r| (r.retry, r.queue_id, r.start_offset, r.queue_offset)).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-2 ;,%qo-]{0,40}|\\PC{0,20}") {
        let receipt = Receipt::parse(&text);
        if let Ok(receipt) = receipt {
            let again = receipt.encode().expect("it was read");
            prop_assert_eq!(Receipt::parse(&again), Ok(receipt));
        }
        let _ = (parse_start_offsets(&text), parse_message_offsets(&text), parse_order_counts(&text));
        let answer = PopAnswer {
            start_offset_info: Some(&text),
            msg_offset_info: Some(&text),
            order_count_info: Some(&text),
            ..ANSWER
        };
        let popped = answer.receipts([PoppedMessage { receipt: Some(&text), ..message(&text, 0, 0) }]);
        if let Ok(popped) = popped {
            prop_assert!(popped.iter().all(|popped| Receipt::parse(&popped.receipt).is_ok()));
        }
    }
}
