use proptest::prelude::*;
use rmq_proto::names::RetryMark::{Normal, RetryV1, RetryV2};
use rmq_proto::pop::{Receipt, ReceiptError};

use crate::retry_mark;

const RECEIPT: Receipt<'_> = Receipt {
    start_offset: 7,
    pop_time: 1_700_000_000_100,
    invisible_time: 60_000,
    revive_queue_id: 3,
    retry: Normal,
    broker_name: "broker-a",
    queue_id: 1,
    queue_offset: Some(7),
};

#[test]
fn receipts() {
    let rows = [
        // Wire §11.1.
        ("7 1700000000100 60000 3 0 broker-a 1 7", RECEIPT),
        ("7 1700000000100 60000 3 0 broker-a 1", Receipt { queue_offset: None, ..RECEIPT }),
        ("7 1700000000100 60000 3 1 broker-a 1 7", Receipt { retry: RetryV1, ..RECEIPT }),
        (
            "7 1700000000100 60000 3 2 订单;%@ 1 7",
            Receipt { retry: RetryV2, broker_name: "订单;%@", ..RECEIPT },
        ),
        (
            "-9223372036854775808 9223372036854775807 0 999 0 b -2147483648 -1",
            Receipt {
                start_offset: i64::MIN,
                pop_time: i64::MAX,
                invisible_time: 0,
                revive_queue_id: 999,
                retry: Normal,
                broker_name: "b",
                queue_id: i32::MIN,
                queue_offset: Some(-1),
            },
        ),
    ];
    for (text, receipt) in rows {
        assert_eq!(Receipt::parse(text), Ok(receipt));
        assert_eq!(receipt.encode().as_deref(), Ok(text));
        assert_eq!(receipt.is_ordered(), text.contains(" 999 "));
    }
}

#[test]
fn what_is_no_receipt() {
    let number = |part, offset| ReceiptError::Number { part, offset };
    let rows = [
        ("", number("ckQueueOffset", 0)),
        ("7", ReceiptError::Parts { found: 1 }),
        ("7 1 60000 3 0 broker-a", ReceiptError::Parts { found: 6 }),
        ("7 1 60000 3 0 broker-a 1 7 8", ReceiptError::Parts { found: 9 }),
        ("7 1 60000 3 0 broker-a 1 7 ", ReceiptError::Parts { found: 9 }),
        ("7 1 60000 3 0 broker-a 1 ", number("msgQueueOffset", 25)),
        (" 7 1 60000 3 0 broker-a 1", number("ckQueueOffset", 0)),
        ("7  1 60000 3 0 broker-a 1", number("popTime", 2)),
        ("7 1 six 3 0 broker-a 1", number("invisibleTime", 4)),
        ("7 1 60000 2147483648 0 broker-a 1", number("reviveQid", 10)),
        ("7 1 60000 3 3 broker-a 1 7", ReceiptError::RetryMark { offset: 12 }),
        ("7 1 60000 3 00 broker-a 1 7", ReceiptError::RetryMark { offset: 12 }),
        ("7 1 60000 3 0  1 7", ReceiptError::BrokerName),
        ("7 1 60000 3 0 中 x 7", number("queueId", 18)),
        ("7 1 60000 3 0 broker-a 1 9223372036854775808", number("msgQueueOffset", 25)),
        ("7\t1 60000 3 0 broker-a 1 7", number("ckQueueOffset", 0)),
    ];
    for (text, error) in rows {
        assert_eq!(Receipt::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn receipts_that_cannot_be_written() {
    for broker_name in ["", " ", "broker a", "a "] {
        assert_eq!(
            Receipt { broker_name, ..RECEIPT }.encode(),
            Err(ReceiptError::BrokerName),
            "{broker_name:?}"
        );
    }
}

#[test]
fn a_cut_receipt_is_no_other() {
    let text = RECEIPT.encode().expect("it can be written");
    for end in 0..text.len() {
        let prefix = Receipt { queue_offset: None, ..RECEIPT };
        let expected = (&text[..end] == "7 1700000000100 60000 3 0 broker-a 1").then_some(prefix);
        assert_eq!(Receipt::parse(&text[..end]).ok(), expected, "{end}");
    }
}

#[test]
fn acknowledgements() {
    let rows = [(Normal, "orders"), (RetryV1, "%RETRY%billing_orders"), (RetryV2, "%RETRY%billing+orders")];
    for (retry, topic) in rows {
        assert_eq!(Receipt { retry, ..RECEIPT }.ack_topic("billing", "orders"), topic);
    }
}

#[test]
fn renewed_receipts() {
    // Wire §5.18: the offset stands in the first place, too.
    let receipt = Receipt::parse("7 1700000000100 60000 3 2 broker-a 1 9").expect("a receipt");
    let renewed = receipt.renewed(1_700_000_000_200, 10_000, 4).expect("it has an offset");
    assert_eq!(renewed.encode().as_deref(), Ok("9 1700000000200 10000 4 2 broker-a 1 9"));
    assert_eq!(Receipt { queue_offset: None, ..RECEIPT }.renewed(1, 2, 3), None);
}

proptest! {
    #[test]
    fn a_receipt_is_read_back(
        numbers: [i64; 3], ids: (i32, i32), retry in retry_mark(), broker_name in "[^ ]{1,12}", queue_offset: Option<i64>,
    ) {
        let receipt = Receipt {
            start_offset: numbers[0],
            pop_time: numbers[1],
            invisible_time: numbers[2],
            revive_queue_id: ids.0,
            retry,
            broker_name: &broker_name,
            queue_id: ids.1,
            queue_offset,
        };
        let text = receipt.encode().expect("it can be written");
        prop_assert_eq!(Receipt::parse(&text), Ok(receipt));
    }
}
