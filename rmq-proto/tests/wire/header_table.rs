//! Which command has which typed header.

use std::collections::BTreeMap;

use bytes::BytesMut;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
use rmq_proto::ext::{ExtFields, HeaderError, WriteExt};
use rmq_proto::header::*;

use crate::support::read;

/// A type of header, as a value.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [FieldSpec],
    /// Reads the header from the fields, sends it in the format and checks that it comes back. Returns the fields that came.
    pub(crate) resend: Resend,
    /// The same, with the common header.
    pub(crate) resend_pair: Resend,
}

type Resend = fn(&ExtFields, HeaderFormat) -> Result<ExtFields, HeaderError>;

macro_rules! resend {
    ($type:ty) => {
        |ext, format| {
            let header: $type = rmq_proto::ext::ReadExt::read_ext(ext)?;
            let command = sent(&header, format);
            assert_eq!(command.header::<$type>().as_ref(), Ok(&header), "{format:?}");
            Ok(command.ext)
        }
    };
}

macro_rules! header {
    ($type:ty) => {
        Header {
            name: stringify!($type).trim_end_matches("<'_>"),
            fields: <$type as TypedHeader>::FIELDS,
            resend: resend!($type),
            resend_pair: resend!(($type, CommonHeader<'_>)),
        }
    };
}

fn sent(header: &impl WriteExt, format: HeaderFormat) -> RemotingCommand {
    let mut out = BytesMut::new();
    let used = encode_frame(&mut out, format, &CommandHead::request(1, 1), header, 0);
    assert_eq!(used, Ok(format));
    read(&out).expect("our own frame")
}

/// Beside the headers of [`commands`].
pub(crate) fn common() -> Header {
    header!(CommonHeader<'_>)
}

/// Each request, the header of it, and the header of its response. Commands with `None` have no fields.
#[rustfmt::skip]
pub(crate) fn commands() -> Vec<(RequestCode, Option<Header>, Option<Header>)> {
    macro_rules! commands {
        ($($code:ident: $request:tt => $response:tt,)*) => {
            vec![$((RequestCode::$code, commands!(@ $request), commands!(@ $response)),)*]
        };
        (@ ()) => { None };
        (@ [$type:ty]) => { Some(header!($type)) };
    }
    commands! {
        SEND_MESSAGE: [SendMessageHeader<'_>] => [SendResponseHeader<'_>],
        SEND_MESSAGE_V2: [SendMessageV2Header<'_>] => [SendResponseHeader<'_>],
        SEND_BATCH_MESSAGE: [SendMessageV2Header<'_>] => [SendResponseHeader<'_>],
        SEND_REPLY_MESSAGE: [SendMessageHeader<'_>] => [SendResponseHeader<'_>],
        SEND_REPLY_MESSAGE_V2: [SendMessageV2Header<'_>] => [SendResponseHeader<'_>],
        END_TRANSACTION: [EndTransactionHeader<'_>] => (),
        RECALL_MESSAGE: [RecallMessageHeader<'_>] => [RecallResponseHeader<'_>],
        PULL_MESSAGE: [PullMessageHeader<'_>] => [PullResponseHeader],
        LITE_PULL_MESSAGE: [PullMessageHeader<'_>] => [PullResponseHeader],
        QUERY_CONSUMER_OFFSET: [QueryOffsetHeader<'_>] => [OffsetResponseHeader],
        UPDATE_CONSUMER_OFFSET: [UpdateOffsetHeader<'_>] => (),
        SEARCH_OFFSET_BY_TIMESTAMP: [SearchOffsetHeader<'_>] => [OffsetResponseHeader],
        GET_MAX_OFFSET: [GetMaxOffsetHeader<'_>] => [OffsetResponseHeader],
        GET_MIN_OFFSET: [GetMinOffsetHeader<'_>] => [OffsetResponseHeader],
        GET_EARLIEST_MSG_STORETIME: [GetEarliestStoreTimeHeader<'_>] => [EarliestStoreTimeResponseHeader],
        CONSUMER_SEND_MSG_BACK: [SendBackHeader<'_>] => (),
        GET_CONSUMER_LIST_BY_GROUP: [GetConsumerListHeader<'_>] => (),
        LOCK_BATCH_MQ: () => (),
        UNLOCK_BATCH_MQ: () => (),
        HEART_BEAT: () => [HeartbeatResponseHeader],
        UNREGISTER_CLIENT: [UnregisterHeader<'_>] => (),
        CHECK_CLIENT_CONFIG: () => (),
        QUERY_MESSAGE: [QueryMessageHeader<'_>] => [QueryResponseHeader],
        VIEW_MESSAGE_BY_ID: [ViewMessageHeader<'_>] => (),
        QUERY_ASSIGNMENT: () => (),
        POP_MESSAGE: [PopMessageHeader<'_>] => [PopResponseHeader<'_>],
        ACK_MESSAGE: [AckMessageHeader<'_>] => (),
        BATCH_ACK_MESSAGE: () => (),
        CHANGE_MESSAGE_INVISIBLETIME: [ChangeInvisibleTimeHeader<'_>] => [ChangeInvisibleTimeResponseHeader],
        GET_ROUTEINFO_BY_TOPIC: [GetRouteHeader<'_>] => (),
        GET_BROKER_CLUSTER_INFO: () => (),
        UPDATE_AND_CREATE_TOPIC: [CreateTopicHeader<'_>] => (),
        GET_ALL_TOPIC_LIST_FROM_NAMESERVER: () => (),
        GET_TOPICS_BY_CLUSTER: [GetClusterTopicsHeader<'_>] => (),
        GET_SYSTEM_TOPIC_LIST_FROM_NS: () => (),
        GET_KV_CONFIG: [GetKvHeader<'_>] => [KvResponseHeader<'_>],
        GET_KVLIST_BY_NAMESPACE: [GetKvListHeader<'_>] => (),
        CHECK_TRANSACTION_STATE: [CheckTransactionHeader<'_>] => (),
        NOTIFY_CONSUMER_IDS_CHANGED: [ConsumersChangedHeader<'_>] => (),
        RESET_CONSUMER_CLIENT_OFFSET: [ResetOffsetHeader<'_>] => (),
        GET_CONSUMER_STATUS_FROM_CLIENT: [GetConsumerStatusHeader<'_>] => (),
        GET_CONSUMER_RUNNING_INFO: [GetRunningInfoHeader<'_>] => (),
        CONSUME_MESSAGE_DIRECTLY: [ConsumeDirectlyHeader<'_>] => (),
        PUSH_REPLY_MESSAGE_TO_CLIENT: [PushReplyHeader<'_>] => (),
        REGISTER_BROKER: [RegisterBrokerHeader<'_>] => (),
    }
}

/// All headers by name, each once.
pub(crate) fn every_header() -> BTreeMap<&'static str, Header> {
    let of_commands = commands().into_iter().flat_map(|(_, request, response)| [request, response]);
    of_commands.flatten().chain([common()]).map(|header| (header.name, header)).collect()
}
