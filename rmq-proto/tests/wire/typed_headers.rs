//! Typed headers.

use std::borrow::Cow;
use std::fmt::Debug;

use bytes::BytesMut;
use rmq_proto::body::TopicFilterType;
use rmq_proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
use rmq_proto::ext::{ExtFields, HeaderError, NoExt, ReadExt, WriteExt};
use rmq_proto::header::{
    BoundaryType, CommonHeader, ForbiddenType, GetConsumerListHeader, GetRouteHeader,
    HeartbeatResponseHeader, PullSysFlag, SendResponseHeader, TransactionState,
};

use crate::support::{FORMATS, read};

/// Reads a header from fields given as `name=value`, separated by blanks.
fn from_fields<H>(fields: &str, check: impl FnOnce(Result<H, HeaderError>))
where
    H: for<'a> ReadExt<'a> + Debug,
{
    let fields = fields.split_whitespace().filter_map(|field| field.split_once('='));
    check(H::read_ext(&ExtFields::from_iter(fields)));
}

#[test]
fn missing_and_bad_fields() {
    let header = "SendResponseHeader";
    let missing = |field| Err(HeaderError::Missing { header, field });
    let invalid = |field, value: &str| Err(HeaderError::Invalid { header, field, value: value.into() });
    let good = Ok((1, 2));
    let rows = [
        ("msgId=A queueId=1 queueOffset=2", good.clone()),
        ("msgId= queueId=+1 queueOffset=2 transactionId= unknown=x", good),
        ("queueId=1 queueOffset=2", missing("msgId")),
        ("msgId=A queueOffset=2", missing("queueId")),
        ("msgId=A queueId= queueOffset=2", missing("queueId")),
        ("msgId=A queueId=1", missing("queueOffset")),
        ("msgId=A queueId=x queueOffset=2", invalid("queueId", "x")),
        ("msgId=A queueId=1.0 queueOffset=2", invalid("queueId", "1.0")),
        ("msgId=A queueId=2147483648 queueOffset=2", invalid("queueId", "2147483648")),
        ("msgId=A queueId=1 queueOffset=9223372036854775808", invalid("queueOffset", "9223372036854775808")),
    ];
    for (fields, expected) in rows {
        let pairs = fields.split(' ').filter_map(|field| field.split_once('='));
        let ext = ExtFields::from_iter(pairs);
        let found = SendResponseHeader::read_ext(&ext).map(|header| (header.queue_id, header.queue_offset));
        assert_eq!(found, expected, "{fields}");
    }
}

#[test]
fn only_true_is_true() {
    for (text, expected) in [
        ("true", Some(true)),
        ("TRUE", Some(true)),
        ("false", Some(false)),
        ("1", Some(false)),
        ("yes", Some(false)),
        ("", None),
    ] {
        from_fields::<HeartbeatResponseHeader>(&format!("IS_SUB_CHANGE={text}"), |header| {
            assert_eq!(header.expect("fine").subscription_changed, expected, "{text}");
        });
    }
}

#[test]
fn texts_are_borrowed_from_the_frame() {
    let header = GetRouteHeader { topic: "TopicTest".into(), accept_standard_json_only: Some(true) };
    for format in FORMATS {
        let mut out = BytesMut::new();
        encode_frame(&mut out, format, &CommandHead::request(105, 1), &header, 0).expect("it can be written");
        let command = read(&out).expect("our own frame");
        let found: GetRouteHeader<'_> = command.header().expect("fine");
        assert!(matches!(found.topic, Cow::Borrowed("TopicTest")), "{format:?}");
    }
}

#[test]
fn reading_and_writing_allocate_nothing() {
    let header = SendResponseHeader {
        message_id: "0A00000100002A9F0000000000000400".into(),
        queue_id: 1,
        queue_offset: 7,
        transaction_id: Some("0A00000904D201020304050607080001".into()),
        batch_unique_id: None,
        recall_handle: None,
        region_id: Some("DefaultRegion".into()),
        trace_on: Some("true".into()),
    };
    for format in FORMATS {
        let mut out = BytesMut::new();
        write(&mut out, format, &header);
        // Some stores are longer than what is written.
        let mut out = BytesMut::with_capacity(out.len() + 32);
        let writing = allocation_counter::measure(|| write(&mut out, format, &header));
        assert_eq!(writing.count_total, 0, "{format:?}");
        let bytes = out.freeze();
        // From here on the bytes are shared, which takes one allocation whoever reads them.
        let input = bytes.clone();
        let reading = allocation_counter::measure(|| {
            let frame = rmq_proto::frame::FrameDecoder::default().decode(&mut input.clone());
            let command = RemotingCommand::decode(frame.expect("good").expect("whole")).expect("good");
            assert_eq!(command.header::<SendResponseHeader<'_>>().as_ref(), Ok(&header));
        });
        assert_eq!(reading.count_total, 0, "{format:?}");
    }
}

fn write(out: &mut BytesMut, format: HeaderFormat, header: &impl WriteExt) {
    encode_frame(out, format, &CommandHead::response(0, 1), header, 0).expect("it can be written");
}

#[test]
fn messages_of_errors() {
    let missing = HeaderError::Missing { header: "SendResponseHeader", field: "msgId" };
    assert_eq!(missing.to_string(), "SendResponseHeader needs the ext field `msgId`, which is missing");
    let ext = ExtFields::from_iter([("msgId", "A"), ("queueOffset", "2"), ("queueId", &"9".repeat(1_000))]);
    let error = SendResponseHeader::read_ext(&ext).expect_err("no number");
    assert_eq!(
        error.to_string(),
        format!("the ext field `queueId` of SendResponseHeader cannot be `{}`", "9".repeat(64))
    );
}

#[test]
fn a_pair_is_both_headers() {
    let header = GetConsumerListHeader { consumer_group: "CG".into() };
    let common = CommonHeader {
        namespace: Some("INST".into()),
        namespaced: Some(true),
        request_type: Some("0".into()),
        ..CommonHeader::default()
    };
    let pair = (header, common);
    let expected =
        ExtFields::from_iter([("consumerGroup", "CG"), ("ns", "INST"), ("nsd", "true"), ("ReqT", "0")]);
    for format in FORMATS {
        let mut out = BytesMut::new();
        write(&mut out, format, &pair);
        let command = read(&out).expect("our own frame");
        assert_eq!(command.ext, expected, "{format:?}");
        assert_eq!(command.header().as_ref(), Ok(&pair));
        // Each half takes the other's fields for unknown ones.
        assert_eq!(command.header().as_ref(), Ok(&pair.0));
        assert_eq!(command.header().as_ref(), Ok(&pair.1));
    }
}

#[test]
fn a_pair_needs_what_its_halves_need() {
    let ext = ExtFields::from_iter([("ns", "INST")]);
    let missing = Err(HeaderError::Missing { header: "GetConsumerListHeader", field: "consumerGroup" });
    assert_eq!(<(GetConsumerListHeader<'_>, CommonHeader<'_>)>::read_ext(&ext), missing.clone());
    assert_eq!(
        <(CommonHeader<'_>, GetConsumerListHeader<'_>)>::read_ext(&ext)
            .map(|(common, header)| (header, common)),
        missing
    );
}

#[test]
fn a_pair_is_absent_only_if_both_halves_are() {
    fn is_absent(header: &impl WriteExt) -> bool {
        let mut out = BytesMut::new();
        write(&mut out, HeaderFormat::Json, header);
        let command = read(&out).expect("our own frame");
        assert!(command.ext.is_empty());
        command.ext.is_absent()
    }
    assert!(is_absent(&(NoExt, NoExt)));
    assert!(!is_absent(&(NoExt, ())));
    assert!(!is_absent(&((), NoExt)));
    assert!(!is_absent(&(NoExt, CommonHeader::default())));
}

#[test]
fn numbers_and_names_with_a_meaning() {
    let states =
        [(0, TransactionState::Unknown), (8, TransactionState::Commit), (12, TransactionState::Rollback)];
    for number in -1..=16 {
        let expected = states.iter().find(|(wire, _)| *wire == number).map(|(_, state)| *state);
        assert_eq!(TransactionState::from_i32(number), expected);
        assert_eq!(expected.map_or(number, TransactionState::to_i32), number);
    }
    let forbidden = [
        ForbiddenType::Broker,
        ForbiddenType::Group,
        ForbiddenType::Topic,
        ForbiddenType::Broadcasting,
        ForbiddenType::Subscription,
    ];
    for number in -1..=8 {
        let expected = usize::try_from(number - 1).ok().and_then(|index| forbidden.get(index).copied());
        assert_eq!(ForbiddenType::from_i32(number), expected);
        assert_eq!(expected.map_or(number, ForbiddenType::to_i32), number);
    }
    for (name, expected) in [
        ("UPPER", BoundaryType::Upper),
        ("Upper", BoundaryType::Upper),
        ("LOWER", BoundaryType::Lower),
        ("upper ", BoundaryType::Lower),
        ("", BoundaryType::Lower),
    ] {
        assert_eq!(BoundaryType::from_name(name), expected, "{name}");
        assert_eq!(BoundaryType::from_name(expected.name()), expected);
    }
    for (name, expected) in [
        ("SINGLE_TAG", Some(TopicFilterType::SingleTag)),
        ("MULTI_TAG", Some(TopicFilterType::MultiTag)),
        ("single_tag", None),
        ("", None),
    ] {
        assert_eq!(TopicFilterType::from_name(name), expected, "{name}");
        assert_eq!(expected.map_or(name, TopicFilterType::name), name);
    }
    assert_eq!((BoundaryType::Upper.name(), BoundaryType::default().name()), ("UPPER", "LOWER"));
}

#[test]
fn bits_of_a_pull() {
    let lite = PullSysFlag::LITE_PULL.with(PullSysFlag::SUBSCRIPTION).with(PullSysFlag::SUSPEND);
    assert_eq!(lite, PullSysFlag::from(22));
    assert_eq!(i32::from(lite.with(PullSysFlag::COMMIT_OFFSET).with(PullSysFlag::CLASS_FILTER)), 31);
    assert_eq!(lite.without(PullSysFlag::LITE_PULL), PullSysFlag(6));
    assert!(lite.has(PullSysFlag(0x14)) && !lite.has(PullSysFlag(0x3)));
}
