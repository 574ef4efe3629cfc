//! Trace records, producer §10.4: `|` stands for the separator of fields and a line's end for that of records.

use proptest::prelude::*;
use rmq_proto::trace::{
    self, Consumer, ContextCode, EndTransaction, MessageKind, Pub, Recall, SubAfter, SubBefore,
    TraceDecodeError, TraceEncodeError, TraceRecord, TransactionState,
};

const ID: &str = "0A00000904D201020304050607080001";
const OFFSET_ID: &str = "0A00000100002A9F0000000000000400";

fn text(lines: &str) -> String {
    lines.replace('|', "\u{1}").replace('\n', "\u{2}")
}

fn published() -> Pub {
    Pub {
        time: 1_700_000_000_123,
        region: Some("DefaultRegion".into()),
        group: "billing".into(),
        topic: "orders".into(),
        message_id: ID.into(),
        tags: Some("created".into()),
        keys: Some("order-42 user-7".into()),
        broker: "10.0.0.1:10911".into(),
        body_len: 5,
        cost_ms: 17,
        kind: MessageKind::Normal,
        offset_message_id: Some(OFFSET_ID.into()),
        success: true,
        client_host: None,
    }
}

fn end_transaction() -> EndTransaction {
    EndTransaction {
        time: 1_700_000_000_123,
        region: Some("DefaultRegion".into()),
        group: "billing".into(),
        topic: "orders".into(),
        message_id: ID.into(),
        tags: None,
        keys: Some("order-42".into()),
        broker: "10.0.0.1:10911".into(),
        transaction_id: Some(ID.into()),
        state: TransactionState::Commit,
        from_check: false,
    }
}

fn sub_after() -> SubAfter {
    SubAfter {
        request_id: "R1".into(),
        message_id: ID.into(),
        cost_ms: 3,
        success: false,
        keys: None,
        context: ContextCode::EXCEPTION,
        consumer: Some(Consumer { time: 1_700_000_000_456, group: "readers".into() }),
    }
}

/// Each row of the table, as Java prints it.
fn golden() -> Vec<(TraceRecord, String)> {
    let kinds = [
        (MessageKind::Normal, 0),
        (MessageKind::TransactionHalf, 1),
        (MessageKind::TransactionCommit, 2),
        (MessageKind::Delay, 3),
        (MessageKind::Order, 4),
    ];
    let states = [
        (TransactionState::Commit, "COMMIT_MESSAGE"),
        (TransactionState::Rollback, "ROLLBACK_MESSAGE"),
        (TransactionState::Unknown, "UNKNOW"),
    ];
    let mut rows = vec![
        (
            TraceRecord::Pub(Pub { region: None, tags: None, keys: None, success: false, ..published() }),
            format!(
                "Pub|1700000000123|null|billing|orders|{ID}|null|null|10.0.0.1:10911|5|17|0|{OFFSET_ID}|false\n"
            ),
        ),
        (
            TraceRecord::Pub(Pub { offset_message_id: None, ..published() }),
            format!(
                "Pub|1700000000123|DefaultRegion|billing|orders|{ID}|created|order-42 user-7|10.0.0.1:10911|5|17|0|null|true\n"
            ),
        ),
        (
            TraceRecord::SubBefore(SubBefore {
                time: 1_700_000_000_400,
                region: Some("DefaultRegion".into()),
                group: "readers".into(),
                request_id: "R1".into(),
                message_id: ID.into(),
                retry_times: 2,
                keys: Some(String::new()),
            }),
            format!("SubBefore|1700000000400|DefaultRegion|readers|R1|{ID}|2|\n"),
        ),
        (
            TraceRecord::SubAfter(sub_after()),
            format!("SubAfter|R1|{ID}|3|false|null|2|1700000000456|readers\n"),
        ),
        (
            TraceRecord::SubAfter(SubAfter { consumer: None, ..sub_after() }),
            format!("SubAfter|R1|{ID}|3|false|null|2|\n"),
        ),
        (
            TraceRecord::Recall(Recall {
                time: 1_700_000_000_123,
                region: Some("DefaultRegion".into()),
                group: "billing".into(),
                topic: "orders".into(),
                message_id: ID.into(),
                success: true,
            }),
            format!("Recall|1700000000123|DefaultRegion|billing|orders|{ID}|true\n"),
        ),
    ];
    for (kind, number) in kinds {
        rows.push((
            TraceRecord::Pub(Pub { kind, ..published() }),
            format!(
                "Pub|1700000000123|DefaultRegion|billing|orders|{ID}|created|order-42 user-7|10.0.0.1:10911|5|17|{number}|{OFFSET_ID}|true\n"
            ),
        ));
    }
    for (state, name) in states {
        for from_check in [false, true] {
            rows.push((
                TraceRecord::EndTransaction(EndTransaction { state, from_check, ..end_transaction() }),
                format!(
                    "EndTransaction|1700000000123|DefaultRegion|billing|orders|{ID}|null|order-42|10.0.0.1:10911|2|{ID}|{name}|{from_check}\n"
                ),
            ));
        }
    }
    rows
}

/// J5: a record's fields, in the order that Java writes and reads them in.
#[test]
fn j5_golden_records() {
    let mut all = String::new();
    for (record, line) in golden() {
        let mut out = "before".to_owned();
        record.encode(&mut out).unwrap();
        assert_eq!(out, format!("before{}", text(&line)));
        assert_eq!(trace::records(&text(&line)).collect::<Vec<_>>(), [Ok(record.clone())], "{line}");
        record.encode(&mut all).unwrap();
    }
    let records: Vec<_> = trace::records(&all).map(Result::unwrap).collect();
    assert_eq!(records, golden().into_iter().map(|(record, _)| record).collect::<Vec<_>>());
}

#[test]
fn other_versions_are_read() {
    let begin = format!(
        "Pub|1700000000123|DefaultRegion|billing|orders|{ID}|created|order-42 user-7|10.0.0.1:10911|5|17|0"
    );
    let after = format!("SubAfter|R1|{ID}|3|false|null");
    let older = SubAfter { consumer: None, ..sub_after() };
    let host = Some("10.0.0.9".to_owned());
    let rows = [
        (format!("{begin}|true"), TraceRecord::Pub(Pub { offset_message_id: None, ..published() })),
        (format!("{begin}|{OFFSET_ID}|true"), TraceRecord::Pub(published())),
        (
            format!("{begin}|{OFFSET_ID}|true|10.0.0.9"),
            TraceRecord::Pub(Pub { client_host: host.clone(), ..published() }),
        ),
        (
            format!("{begin}|{OFFSET_ID}|true|10.0.0.9|more"),
            TraceRecord::Pub(Pub { client_host: host, ..published() }),
        ),
        (after.clone(), TraceRecord::SubAfter(SubAfter { context: ContextCode::SUCCESS, ..older.clone() })),
        (format!("{after}|2"), TraceRecord::SubAfter(older.clone())),
        // With a time alone, which nobody writes, there is nothing to say.
        (format!("{after}|2|1700000000456"), TraceRecord::SubAfter(older)),
        (format!("{after}|2|1700000000456|readers"), TraceRecord::SubAfter(sub_after())),
        (format!("{after}|2|1700000000456|readers|more"), TraceRecord::SubAfter(sub_after())),
    ];
    for (line, record) in rows {
        assert_eq!(trace::records(&text(&line)).collect::<Vec<_>>(), [Ok(record)], "{line}");
    }
}

#[test]
fn a_bad_record_does_not_cost_the_others() {
    let (good, line) = golden().swap_remove(0);
    let field = |field, text: &str| TraceDecodeError::Field { field, text: text.to_owned() };
    let fields = |kind, least, found| TraceDecodeError::Fields { kind, least, found };
    let rows = [
        ("Nonsense|1", TraceDecodeError::Kind { name: "Nonsense".into() }),
        ("pub|1", TraceDecodeError::Kind { name: "pub".into() }),
        ("Pub", fields("Pub", 13, 1)),
        ("Pub|1|r|g|t|i|a|k|b|5|17|0", fields("Pub", 13, 12)),
        ("Pub|x|r|g|t|i|a|k|b|5|17|0|true", field("time", "x")),
        ("Pub|1|r|g|t|i|a|k|b||17|0|true", field("body length", "")),
        ("Pub|1|r|g|t|i|a|k|b|5|99999999999|0|true", field("cost", "99999999999")),
        ("Pub|1|r|g|t|i|a|k|b|5|17|5|true", field("message type", "5")),
        ("Pub|1|r|g|t|i|a|k|b|5|17|0|yes", field("success", "yes")),
        ("Pub|1|r|g|t|i|a|k|b|5|17|0|true|yes", field("success", "yes")),
        ("SubBefore|1|r|g|q|i|0", fields("SubBefore", 8, 7)),
        ("SubBefore|1|r|g|q|i|many|k", field("number of retries", "many")),
        ("SubAfter|q|i|3|true", fields("SubAfter", 6, 5)),
        ("SubAfter|q|i|3|true|k|x", field("context code", "x")),
        ("SubAfter|q|i|3|true|k|0|x|g", field("time", "x")),
        ("EndTransaction|1|r|g|t|i|a|k|b|2|x|UNKNOW", fields("EndTransaction", 13, 12)),
        ("EndTransaction|1|r|g|t|i|a|k|b|2|x|UNKNOWN|true", field("state", "UNKNOWN")),
        ("EndTransaction|1|r|g|t|i|a|k|b|2|x|UNKNOW|1", field("origin", "1")),
        ("Recall|1|r|g|t|i", fields("Recall", 7, 6)),
    ];
    for (bad, error) in rows {
        let lines = text(&format!("{line}{bad}\n{line}"));
        let read: Vec<_> = trace::records(&lines).collect();
        assert_eq!(read, [Ok(good.clone()), Err(error), Ok(good.clone())], "{bad}");
    }
    assert_eq!(trace::records("").count(), 0);
    assert_eq!(trace::records("\u{2}\u{2}").count(), 0);
}

#[test]
fn a_text_with_a_separator_is_refused() {
    let rows = [
        (TraceRecord::Pub(Pub { region: Some("a\u{1}b".into()), ..published() }), "region"),
        (TraceRecord::Pub(Pub { keys: Some("\u{2}".into()), ..published() }), "keys"),
        (
            TraceRecord::Pub(Pub { tags: Some("x\u{2}".into()), keys: Some("\u{1}".into()), ..published() }),
            "tag",
        ),
        (
            TraceRecord::EndTransaction(EndTransaction {
                transaction_id: Some("\u{1}".into()),
                ..end_transaction()
            }),
            "transaction id",
        ),
        (
            TraceRecord::SubAfter(SubAfter {
                consumer: Some(Consumer { time: 1, group: "g\u{1}".into() }),
                ..sub_after()
            }),
            "group",
        ),
    ];
    for (record, field) in rows {
        let mut out = "before".to_owned();
        assert_eq!(record.encode(&mut out), Err(TraceEncodeError::Separator { field }));
        assert_eq!(out, "before");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    "[^\u{1}\u{2}]{0,12}"
}

/// `null` is how a missing text is written.
fn any_optional() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(any_text().prop_filter("reads as missing", |text| text != "null"))
}

fn any_kind() -> impl Strategy<Value = MessageKind> {
    (0..5).prop_map(|number| MessageKind::of(number).expect("there are five"))
}

fn any_pub() -> impl Strategy<Value = TraceRecord> {
    let texts = (any_text(), any_text(), any_text(), any_text());
    let optionals = (any_optional(), any_optional(), any_optional(), any_optional());
    (any::<i64>(), texts, optionals, any::<i32>(), any::<i32>(), any_kind(), any::<bool>()).prop_map(
        |(time, texts, optionals, body_len, cost_ms, kind, success)| {
            let (group, topic, message_id, broker) = texts;
            let (region, tags, keys, offset_message_id) = optionals;
            TraceRecord::Pub(Pub {
                time,
                region,
                group,
                topic,
                message_id,
                tags,
                keys,
                broker,
                body_len,
                cost_ms,
                kind,
                offset_message_id,
                success,
                client_host: None,
            })
        },
    )
}

fn any_sub() -> impl Strategy<Value = TraceRecord> {
    let before =
        (any::<i64>(), any_optional(), any_text(), any_text(), any_text(), any::<i32>(), any_optional())
            .prop_map(|(time, region, group, request_id, message_id, retry_times, keys)| {
                TraceRecord::SubBefore(SubBefore {
                    time,
                    region,
                    group,
                    request_id,
                    message_id,
                    retry_times,
                    keys,
                })
            });
    let consumer = proptest::option::of((any::<i64>(), any_text()));
    let after = (any_text(), any_text(), any::<i32>(), any::<bool>(), any_optional(), any::<i32>(), consumer)
        .prop_map(|(request_id, message_id, cost_ms, success, keys, context, consumer)| {
            TraceRecord::SubAfter(SubAfter {
                request_id,
                message_id,
                cost_ms,
                success,
                keys,
                context: ContextCode(context),
                consumer: consumer.map(|(time, group)| Consumer { time, group }),
            })
        });
    prop_oneof![before, after]
}

fn any_other() -> impl Strategy<Value = TraceRecord> {
    let texts = (any_text(), any_text(), any_text(), any_text());
    let optionals = (any_optional(), any_optional(), any_optional(), any_optional());
    let states = vec![TransactionState::Commit, TransactionState::Rollback, TransactionState::Unknown];
    let ended = (any::<i64>(), texts, optionals, proptest::sample::select(states), any::<bool>())
        .prop_map(|(time, texts, optionals, state, from_check)| {
            let (group, topic, message_id, broker) = texts;
            let (region, tags, keys, transaction_id) = optionals;
            TraceRecord::EndTransaction(EndTransaction {
                time,
                region,
                group,
                topic,
                message_id,
                tags,
                keys,
                broker,
                transaction_id,
                state,
                from_check,
            })
        })
        .boxed();
    let recall = (any::<i64>(), any_optional(), any_text(), any_text(), any_text(), any::<bool>()).prop_map(
        |(time, region, group, topic, message_id, success)| {
            TraceRecord::Recall(Recall { time, region, group, topic, message_id, success })
        },
    );
    prop_oneof![ended, recall]
}

fn any_record() -> impl Strategy<Value = TraceRecord> {
    prop_oneof![any_pub(), any_sub(), any_other()]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(written in proptest::collection::vec(any_record(), 0..12)) {
        let mut text = String::new();
        for record in &written {
            record.encode(&mut text).expect("no separators");
        }
        let whole: Vec<_> = trace::records(&text).map(|record| record.expect("it was written")).collect();
        prop_assert_eq!(&whole, &written);
        let cut = text.strip_suffix('\u{2}').unwrap_or(&text);
        prop_assert!(trace::records(cut).eq(written.into_iter().map(Ok)));
    }

    #[test]
    fn any_text_is_read(text in "((Pub|SubBefore|SubAfter|EndTransaction|Recall|x)([\u{1}][0-9a-z]{0,3}){0,16}[\u{2}]){0,4}") {
        let read: Vec<_> = trace::records(&text).collect();
        prop_assert_eq!(read.len(), text.matches('\u{2}').count());
        for record in read.into_iter().flatten() {
            let TraceRecord::Pub(Pub { client_host: Some(_), .. }) = &record else {
                let mut again = String::new();
                prop_assert_eq!(record.encode(&mut again), Ok(()));
                prop_assert_eq!(trace::records(&again).next(), Some(Ok(record)));
                continue;
            };
        }
    }
}
