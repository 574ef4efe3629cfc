//! Frames with a typed header, made from its list of fields: all of them, only those that must be there, and each of the
//! others alone, with values of several styles, in both formats.

use bytes::BytesMut;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{CommandHead, EncodeError, HeaderFormat, encode_frame};
use rmq_proto::ext::{ExtFields, FieldKind, ReadExt};
use rmq_proto::header::{self, FieldSpec, TypedHeader};

use crate::case::{Case, Kind, hex};
use crate::commands::{FORMATS, expected_command, format_name};
use crate::value::Value;

/// One typed header.
struct Row {
    name: String,
    /// The Java class; none if the fields stand beside a header or Java has no class for them.
    class: &'static str,
    head: CommandHead<'static>,
    fields: Vec<FieldSpec>,
    /// Reads the header from the fields, and writes it.
    write: Write,
}

type Write =
    fn(&mut BytesMut, HeaderFormat, &CommandHead<'_>, &ExtFields, usize) -> Result<HeaderFormat, EncodeError>;

/// `request|response CODE: Header = "JavaClass"`, with `Header & Other` for two that are written together.
macro_rules! rows {
    ($($side:ident $code:ident: $($header:ident)&+ = $class:literal,)*) => {
        vec![$(Row {
            name: [$(stringify!($header)),+].join("&"),
            class: $class,
            head: rows!(@$side $code),
            fields: [$(header::$header::FIELDS),+].concat(),
            write: |out, format, head, ext, body_len| {
                let header = rows!(@all $(header::$header::read_ext(ext).expect("the header's fields")),+);
                encode_frame(out, format, head, &header, body_len)
            },
        },)*]
    };
    (@request $code:ident) => { CommandHead::request(RequestCode::$code, 0) };
    (@response $code:ident) => { CommandHead::response(ResponseCode::$code, 0) };
    (@all $one:expr) => { $one };
    (@all $one:expr, $other:expr) => { ($one, $other) };
}

fn rows() -> Vec<Row> {
    rows! {
        request SEND_MESSAGE: SendMessageHeader = "SendMessageRequestHeader",
        request SEND_MESSAGE_V2: SendMessageV2Header = "SendMessageRequestHeaderV2",
        response SUCCESS: SendResponseHeader = "SendMessageResponseHeader",
        request END_TRANSACTION: EndTransactionHeader = "EndTransactionRequestHeader",
        request RECALL_MESSAGE: RecallMessageHeader = "RecallMessageRequestHeader",
        response SUCCESS: RecallResponseHeader = "RecallMessageResponseHeader",
        request PULL_MESSAGE: PullMessageHeader = "PullMessageRequestHeader",
        response SUCCESS: PullResponseHeader = "PullMessageResponseHeader",
        request QUERY_CONSUMER_OFFSET: QueryOffsetHeader = "QueryConsumerOffsetRequestHeader",
        request QUERY_CONSUMER_OFFSET: QueryOffsetHeader & CommonHeader = "QueryConsumerOffsetRequestHeader",
        response SUCCESS: OffsetResponseHeader = "QueryConsumerOffsetResponseHeader",
        request UPDATE_CONSUMER_OFFSET: UpdateOffsetHeader = "UpdateConsumerOffsetRequestHeader",
        request SEARCH_OFFSET_BY_TIMESTAMP: SearchOffsetHeader = "SearchOffsetRequestHeader",
        response SUCCESS: OffsetResponseHeader = "SearchOffsetResponseHeader",
        request GET_MAX_OFFSET: GetMaxOffsetHeader = "GetMaxOffsetRequestHeader",
        response SUCCESS: OffsetResponseHeader = "GetMaxOffsetResponseHeader",
        request GET_MIN_OFFSET: GetMinOffsetHeader = "GetMinOffsetRequestHeader",
        response SUCCESS: OffsetResponseHeader = "GetMinOffsetResponseHeader",
        request GET_EARLIEST_MSG_STORETIME: GetEarliestStoreTimeHeader = "GetEarliestMsgStoretimeRequestHeader",
        response SUCCESS: EarliestStoreTimeResponseHeader = "GetEarliestMsgStoretimeResponseHeader",
        request CONSUMER_SEND_MSG_BACK: SendBackHeader = "ConsumerSendMsgBackRequestHeader",
        request GET_CONSUMER_LIST_BY_GROUP: GetConsumerListHeader = "GetConsumerListByGroupRequestHeader",
        response SUCCESS: HeartbeatResponseHeader = "",
        request UNREGISTER_CLIENT: UnregisterHeader = "UnregisterClientRequestHeader",
        request QUERY_MESSAGE: QueryMessageHeader = "QueryMessageRequestHeader",
        response SUCCESS: QueryResponseHeader = "QueryMessageResponseHeader",
        request VIEW_MESSAGE_BY_ID: ViewMessageHeader = "ViewMessageRequestHeader",
        request POP_MESSAGE: PopMessageHeader = "PopMessageRequestHeader",
        response SUCCESS: PopResponseHeader = "PopMessageResponseHeader",
        request ACK_MESSAGE: AckMessageHeader = "AckMessageRequestHeader",
        request CHANGE_MESSAGE_INVISIBLETIME: ChangeInvisibleTimeHeader = "ChangeInvisibleTimeRequestHeader",
        response SUCCESS: ChangeInvisibleTimeResponseHeader = "ChangeInvisibleTimeResponseHeader",
        request GET_ROUTEINFO_BY_TOPIC: GetRouteHeader = "GetRouteInfoRequestHeader",
        request UPDATE_AND_CREATE_TOPIC: CreateTopicHeader = "CreateTopicRequestHeader",
        request GET_TOPICS_BY_CLUSTER: GetClusterTopicsHeader = "GetTopicsByClusterRequestHeader",
        request GET_KV_CONFIG: GetKvHeader = "GetKVConfigRequestHeader",
        response SUCCESS: KvResponseHeader = "GetKVConfigResponseHeader",
        request GET_KVLIST_BY_NAMESPACE: GetKvListHeader = "GetKVListByNamespaceRequestHeader",
        request CHECK_TRANSACTION_STATE: CheckTransactionHeader = "CheckTransactionStateRequestHeader",
        request NOTIFY_CONSUMER_IDS_CHANGED: ConsumersChangedHeader = "NotifyConsumerIdsChangedRequestHeader",
        request RESET_CONSUMER_CLIENT_OFFSET: ResetOffsetHeader = "ResetOffsetRequestHeader",
        request GET_CONSUMER_STATUS_FROM_CLIENT: GetConsumerStatusHeader = "GetConsumerStatusRequestHeader",
        request GET_CONSUMER_RUNNING_INFO: GetRunningInfoHeader = "GetConsumerRunningInfoRequestHeader",
        request CONSUME_MESSAGE_DIRECTLY: ConsumeDirectlyHeader = "ConsumeMessageDirectlyResultRequestHeader",
        request PUSH_REPLY_MESSAGE_TO_CLIENT: PushReplyHeader = "ReplyMessageRequestHeader",
        request REGISTER_BROKER: RegisterBrokerHeader = "RegisterBrokerRequestHeader",
    }
}

/// Fields whose text Java takes only if it is one of a few.
const CHOICES: &[(&str, &[&str])] = &[
    ("boundaryType", &["LOWER", "UPPER"]),
    ("commitOrRollback", &["0", "8", "12"]),
    ("topicFilterType", &["SINGLE_TAG", "MULTI_TAG"]),
];

/// What is hard about a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    /// Nothing: every field has a value of its own, so that none can stand in another's place.
    Plain,
    /// Text of several bytes a character and with all that JSON escapes; negative numbers.
    Odd,
    /// The least number; text that is a blank.
    Least,
    /// The greatest number; text that is long.
    Greatest,
}

const STYLES: [Style; 4] = [Style::Plain, Style::Odd, Style::Least, Style::Greatest];

impl Style {
    /// A value for the field with this number.
    fn value(self, index: usize, field: &FieldSpec) -> String {
        if let Some((_, choices)) = CHOICES.iter().find(|(name, _)| *name == field.name) {
            return choices[self as usize % choices.len()].to_owned();
        }
        let index = index as i64;
        match (field.kind, self) {
            (FieldKind::Text, Self::Plain) => format!("{}-{index}", field.name),
            (FieldKind::Text, Self::Odd) => format!("{index} {ODD_TEXT}"),
            (FieldKind::Text, Self::Least) => " ".to_owned(),
            (FieldKind::Text, Self::Greatest) => format!("{index}").repeat(400),
            (FieldKind::I32, Self::Plain) => (1_000 + index).to_string(),
            (FieldKind::I64, Self::Plain) => (1_700_000_000_000 + index).to_string(),
            (FieldKind::I32 | FieldKind::I64, Self::Odd) => (-1 - index).to_string(),
            (FieldKind::I32, Self::Least) => i32::MIN.to_string(),
            (FieldKind::I32, Self::Greatest) => i32::MAX.to_string(),
            (FieldKind::I64, Self::Least) => i64::MIN.to_string(),
            (FieldKind::I64, Self::Greatest) => i64::MAX.to_string(),
            (FieldKind::Boolean, Self::Plain | Self::Greatest) => "true".to_owned(),
            (FieldKind::Boolean, Self::Odd | Self::Least) => "false".to_owned(),
        }
    }
}

/// All that JSON escapes, and characters of one to four bytes.
pub(crate) const ODD_TEXT: &str = "\u{1}\u{2}\0\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{1f}\u{7f}\u{80}\u{85}\"'\\/<>&\u{2027}\u{2028}\u{2029}\u{202a}é标签😀\u{feff}\u{fffd}{}[]:,%\\u0041";

pub(crate) fn cases() -> Vec<Case> {
    rows().iter().flat_map(row_cases).collect()
}

fn row_cases(row: &Row) -> Vec<Case> {
    // Which fields, in words and by their number, and the styles of their values.
    let mut subsets: Vec<(String, Vec<usize>, &[Style])> = Vec::new();
    let all = 0..row.fields.len();
    let required: Vec<_> = all.clone().filter(|&index| row.fields[index].required).collect();
    for optional in all.clone().filter(|&index| !row.fields[index].required) {
        let with = [&required[..], &[optional]].concat();
        subsets.push((format!("only-{}", row.fields[optional].name), with, &STYLES[..2]));
    }
    if required.len() < row.fields.len() {
        subsets.push(("required".to_owned(), required, &STYLES[..1]));
    }
    subsets.push(("all".to_owned(), all.collect(), &STYLES));

    let mut cases = Vec::new();
    for (words, indexes, styles) in subsets {
        for style in styles {
            let fields: Vec<_> = indexes
                .iter()
                .map(|&index| (row.fields[index].name, style.value(index, &row.fields[index])))
                .collect();
            for format in FORMATS {
                cases.push(row_case(row, &format!("{words}/{style:?}"), format, &fields));
            }
        }
    }
    cases
}

fn row_case(row: &Row, words: &str, format: HeaderFormat, fields: &[(&'static str, String)]) -> Case {
    let ext = ExtFields::from_iter(fields.iter().map(|(name, value)| (*name, &**value)));
    let head = CommandHead { opaque: 7 - fields.len() as i32, ..row.head };
    let body = format!("body of {words}");
    let mut out = BytesMut::new();
    let used = (row.write)(&mut out, format, &head, &ext, body.len()).expect("it can be written");
    out.extend_from_slice(body.as_bytes());

    let texts = Value::object(fields.iter().map(|(name, value)| (*name, Value::text(value))));
    let mut expected = expected_command(&head, used, texts.clone(), hex(body.as_bytes()));
    if let (Value::Object(members), false) = (&mut expected, row.class.is_empty()) {
        members.insert("header".to_owned(), texts);
    }
    let id = format!("{}/{}/{words}/{}", row.name, row.class, format_name(format));
    Case::new(id, Kind::Frame, out, expected).class(row.class)
}
