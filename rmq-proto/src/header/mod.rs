//! Typed headers: the ext fields of one kind of command each, under our names and with their types (wire §5).
//!
//! Reading is one pass over the ext fields of the frame, and borrows text from it; writing goes straight into the frame.
//! Fields that a peer may leave out are an `Option`; so are those that some version of it leaves out (wire §10). Flags,
//! names and numbers from a table stand as they came, so that unknown ones survive; the types beside the headers read them.
//!
//! A header may be written and read together with the [`CommonHeader`], as a pair:
//!
//! ```
//! use rmq_proto::code::RequestCode;
//! use rmq_proto::command::RemotingCommand;
//! use rmq_proto::header::{CommonHeader, GetConsumerListHeader};
//!
//! let header = GetConsumerListHeader { consumer_group: "CG".into() };
//! let common = CommonHeader { request_type: Some("0".into()), ..CommonHeader::default() };
//! let command = RemotingCommand::request(RequestCode::GET_CONSUMER_LIST_BY_GROUP).with_ext(&(header, common));
//! let (header, common): (GetConsumerListHeader<'_>, CommonHeader<'_>) = command.header()?;
//! assert_eq!(header.consumer_group, "CG");
//! assert_eq!(common.request_type.as_deref(), Some("0"));
//! # Ok::<(), rmq_proto::ext::HeaderError>(())
//! ```

#[macro_use]
mod macros;
mod client;
mod common;
mod heartbeat;
mod inbound;
mod kv;
mod offset;
mod pop;
mod pull;
mod query;
mod recall;
mod register;
mod route;
mod send;
mod send_back;
mod topic;
mod transaction;

use crate::ext::{FieldKind, WriteExt};

pub use client::{GetConsumerListHeader, UnregisterHeader};
pub use common::CommonHeader;
pub use heartbeat::HeartbeatResponseHeader;
pub use inbound::{
    ConsumeDirectlyHeader, ConsumersChangedHeader, GetConsumerStatusHeader, GetRunningInfoHeader,
    PushReplyHeader, ResetOffsetHeader,
};
pub use kv::{GetKvHeader, GetKvListHeader, KvResponseHeader};
pub use offset::{
    BoundaryType, EarliestStoreTimeResponseHeader, GetEarliestStoreTimeHeader, GetMaxOffsetHeader,
    GetMinOffsetHeader, OffsetResponseHeader, QueryOffsetHeader, SearchOffsetHeader, UpdateOffsetHeader,
};
pub use pop::{
    AckMessageHeader, ChangeInvisibleTimeHeader, ChangeInvisibleTimeResponseHeader, PopMessageHeader,
    PopResponseHeader,
};
pub use pull::{ForbiddenType, PullMessageHeader, PullResponseHeader, PullSysFlag};
pub use query::{QueryMessageHeader, QueryResponseHeader, ViewMessageHeader};
pub use recall::{RecallMessageHeader, RecallResponseHeader};
pub use register::RegisterBrokerHeader;
pub use route::GetRouteHeader;
pub use send::{SendMessageHeader, SendMessageV2Header, SendResponseHeader};
pub use send_back::SendBackHeader;
pub use topic::{CreateTopicHeader, GetClusterTopicsHeader};
pub use transaction::{CheckTransactionHeader, EndTransactionHeader, TransactionState};

/// What a typed header can have.
pub trait TypedHeader: WriteExt {
    /// Its fields, in the order of writing.
    const FIELDS: &'static [FieldSpec];
}

/// One field of a [`TypedHeader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// The ext field's name on the wire.
    pub name: &'static str,
    /// What its text means.
    pub kind: FieldKind,
    /// Whether the header cannot be read without it.
    pub required: bool,
}
