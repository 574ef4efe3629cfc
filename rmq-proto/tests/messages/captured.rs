//! Bodies that real brokers and the official client sent.

use bytes::Bytes;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_proto::id::OffsetMessageId;
use rmq_proto::message::{
    BatchElements, Messages, RecordVersion, Records, StoredMessage, SysFlag, TransactionType,
};
use rmq_proto::properties;

use crate::support::*;

const CAPTURE: &str = include_str!("../golden/capture-5.3.3.jsonl");

/// The commands with a body whose line has one of these codes as its member `kind`.
fn captured(kind: &str, codes: &[i64]) -> Vec<RemotingCommand> {
    let lines = CAPTURE.lines().map(Line::of);
    let lines = lines.filter(|line| line.number(kind).is_some_and(|code| codes.contains(&code)));
    let commands = lines.map(|line| {
        let mut bytes = hex(&line.text("hex").expect("a frame"));
        let frame = FrameDecoder::new(MAX_FRAME_LEN).decode(&mut bytes).expect("a frame");
        RemotingCommand::decode(frame.expect("the whole frame")).expect("a header")
    });
    commands.filter(|command| !command.body.is_empty()).collect()
}

fn read(body: &Bytes) -> Vec<StoredMessage> {
    let messages: Vec<_> = Records::new(body.clone()).map(|record| record.expect("a message")).collect();
    for message in &messages {
        assert!(message.crc_matches(), "{message:?}");
        assert!(is_part_of(&message.body, body), "the body is not copied");
        assert_eq!((&*message.topic, message.version), ("CapTopic", RecordVersion::V1));
        assert_eq!(message.store_host.port(), 32911);
    }
    assert_eq!(records(&messages), *body, "written as they were");
    let same: Vec<_> = Messages::new(body.clone()).map(|message| message.expect("a message")).collect();
    assert_eq!(same, messages, "there is no inner batch among them");
    messages
}

#[test]
fn pulls() {
    // Of each record: queue offset, sys flag, length of the body, tags, keys.
    type Row = (i64, i32, usize, &'static str, &'static [&'static str]);
    const BODIES: [&[Row]; 3] = [
        &[(0, 0, 5, "TagA", &["k1", "k2"]), (1, 0, 2, "TagA", &["b1"]), (2, 0, 2, "TagA", &["b2"])],
        &[(0, 0, 7, "TagA", &[]), (1, 0x8, 6, "TagA", &[])],
        &[(0, 0, 11, "标签", &["键"]), (1, 0x301, 29, "TagA", &["big"])],
    ];
    for code in [11, 361] {
        let commands = captured("response_to", &[code]);
        assert_eq!(commands.len(), BODIES.len(), "{code}");
        for (command, expected) in commands.iter().zip(BODIES) {
            let messages = read(&command.body);
            assert_eq!(messages.len(), expected.len());
            for (message, (queue_offset, sys_flag, len, tags, keys)) in messages.iter().zip(expected) {
                assert_eq!(
                    (message.queue_offset, message.sys_flag.0, message.body.len(), message.tags()),
                    (*queue_offset, *sys_flag, *len, Some(*tags))
                );
                assert_eq!(message.keys().collect::<Vec<_>>(), *keys);
            }
        }
    }
}

#[test]
fn messages_of_a_batch_have_two_unique_keys() {
    // Row 36 of wire §10.
    let body = &captured("response_to", &[11])[0].body;
    let batch_key = "FD0000000000000000000000000000024CDE30946E09966110E50006";
    let own_keys = [
        "FD0000000000000000000000000000024CDE30946E09966110E50004",
        "FD0000000000000000000000000000024CDE30946E09966110E50005",
    ];
    for (message, own_key) in read(body)[1..].iter().zip(own_keys) {
        assert_eq!(message.unique_key(), Some(batch_key));
        assert_eq!(message.message_id(), batch_key);
        assert_eq!(properties::first_value(&message.properties, properties::UNIQ_KEY), Some(own_key));
    }
}

#[test]
fn a_committed_message() {
    let body = &captured("response_to", &[11])[1].body;
    let message = &read(body)[1];
    assert_eq!(message.sys_flag.transaction(), TransactionType::Commit);
    assert_eq!(message.prepared_transaction_offset, 2597);
    assert_eq!(message.property(properties::PGROUP), Some("cap_tx"));
}

#[test]
fn a_query_and_a_view() {
    let bodies: Vec<_> = captured("response_to", &[12, 33]).into_iter().map(|command| command.body).collect();
    assert_eq!(bodies.len(), 2);
    for body in bodies {
        let [message] = &read(&body)[..] else { panic!("one message") };
        assert_eq!(StoredMessage::decode(&body).as_ref(), Ok(message), "one record is a whole body, too");
    }
}

#[test]
fn a_check_of_a_transaction() {
    let commands = captured("request", &[39]);
    let [command] = &commands[..] else { panic!("one check") };
    let message = StoredMessage::decode(&command.body).expect("a record");
    let field = |name| command.ext.value(name).expect("the field").into_owned();
    assert_eq!(message.unique_key(), Some(&*field("msgId")));
    assert_eq!(Ok(message.offset_message_id()), field("offsetMsgId").parse::<OffsetMessageId>());
    assert_eq!(message.commit_log_offset.to_string(), field("commitLogOffset"));
    assert_eq!(message.queue_offset.to_string(), field("tranStateTableOffset"));
    assert_eq!(message.sys_flag, SysFlag::default(), "the record itself is no half message any more");
    assert_eq!(read(&command.body), [message]);
}

#[test]
fn a_client_s_batch() {
    let commands = captured("request", &[320]);
    let [command] = &commands[..] else { panic!("one batch") };
    let elements: Vec<_> = BatchElements::new(command.body.clone()).map(|element| element.unwrap()).collect();
    let seen: Vec<_> = elements
        .iter()
        .map(|element| {
            (&element.body[..], element.flag, properties::value(&element.properties, properties::KEYS))
        })
        .collect();
    assert_eq!(seen, [(b"x1".as_slice(), 0, Some("b1")), (b"x2", 0, Some("b2"))]);
    assert_eq!(batch(&elements), command.body);
}
