//! Headers of popping, and that their frames are JSON (wire §3.2, §5.18).

use bytes::BytesMut;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
use rmq_proto::ext::WriteExt;
use rmq_proto::header::*;

use crate::header_table::commands;
use crate::support::read;
use crate::typed_headers_examples::assert_written;

fn pop() -> PopMessageHeader<'static> {
    PopMessageHeader {
        consumer_group: "CG".into(),
        topic: "T".into(),
        queue_id: -1,
        max_messages: 32,
        invisible_time: 60_000,
        poll_time: 15_000,
        born_time: 1_700_000_000_000,
        init_mode: PopMessageHeader::FROM_MAX,
        expression_type: Some("TAG".into()),
        expression: Some("*".into()),
        order: Some(false),
        attempt_id: Some("A".into()),
        broker_name: Some("broker-a".into()),
    }
}

fn ack() -> AckMessageHeader<'static> {
    AckMessageHeader {
        consumer_group: "CG".into(),
        topic: "T".into(),
        queue_id: 1,
        extra_info: "7 1700000000100 60000 3 0 broker-a 1 7".into(),
        offset: 7,
        broker_name: Some("broker-a".into()),
    }
}

fn change() -> ChangeInvisibleTimeHeader<'static> {
    let AckMessageHeader { consumer_group, topic, queue_id, extra_info, offset, broker_name } = ack();
    let invisible_time = 30_000;
    ChangeInvisibleTimeHeader {
        consumer_group,
        topic,
        queue_id,
        extra_info,
        offset,
        invisible_time,
        broker_name,
    }
}

#[test]
fn pops() {
    assert_written(
        &pop(),
        "consumerGroup=CG | topic=T | queueId=-1 | maxMsgNums=32 | invisibleTime=60000 | pollTime=15000 | \
         bornTime=1700000000000 | initMode=1 | expType=TAG | exp=* | order=false | attemptId=A | bname=broker-a",
    );
    let ack_fields = "consumerGroup=CG | topic=T | queueId=1 | \
                      extraInfo=7 1700000000100 60000 3 0 broker-a 1 7 | offset=7 | bname=broker-a";
    assert_written(&ack(), ack_fields);
    assert_written(&change(), &format!("{ack_fields} | invisibleTime=30000"));
    let header = PopResponseHeader {
        pop_time: 1_700_000_000_100,
        invisible_time: 60_000,
        revive_queue_id: 3,
        rest: 5,
        start_offset_info: Some("0 1 7;1 0 3".into()),
        message_offset_info: Some("0 1 7,8;1 0 3".into()),
        order_count_info: Some("0 1 2".into()),
    };
    assert_written(
        &header,
        "popTime=1700000000100 | invisibleTime=60000 | reviveQid=3 | restNum=5 | startOffsetInfo=0 1 7;1 0 3 | \
         msgOffsetInfo=0 1 7,8;1 0 3 | orderCountInfo=0 1 2",
    );
    let header = ChangeInvisibleTimeResponseHeader {
        pop_time: 1_700_000_000_100,
        invisible_time: 30_000,
        revive_queue_id: 3,
    };
    assert_written(&header, "popTime=1700000000100 | invisibleTime=30000 | reviveQid=3");
}

#[test]
fn codes_that_do_not_fit_the_binary_format_go_out_as_json() {
    let common = CommonHeader { request_type: Some("0".into()), ..CommonHeader::default() };
    assert_json(RequestCode::POP_MESSAGE, &pop());
    assert_json(RequestCode::ACK_MESSAGE, &ack());
    assert_json(RequestCode::BATCH_ACK_MESSAGE, &());
    assert_json(RequestCode::CHANGE_MESSAGE_INVISIBLETIME, &change());
    assert_json(RequestCode::POP_MESSAGE, &(pop(), common));
    let is_wide = |code: &RequestCode| i16::try_from(code.0).is_err();
    assert_eq!(commands().into_iter().map(|(code, ..)| code).filter(is_wide).count(), 4);
}

/// Though the binary format is asked for.
fn assert_json(code: RequestCode, header: &impl WriteExt) {
    let mut out = BytesMut::new();
    let format = encode_frame(&mut out, HeaderFormat::RocketMq, &CommandHead::request(code, 1), header, 0);
    assert_eq!(format, Ok(HeaderFormat::Json), "{code}");
    let command = read(&out).expect("our own frame");
    assert_eq!(command.code, code.0);
    assert_eq!(command.ext, RemotingCommand::request(code).with_ext(header).ext, "{code}");
}
