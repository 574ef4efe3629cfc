//! What a user learns.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use rmq_proto::code::ResponseCode;
pub use rmq_proto::header::TransactionState as Resolution;
use rmq_proto::message::{ID_SEPARATOR, StoredMessage};

use crate::address::Address;
use crate::error::{
    CloseCause, EndTransactionError, NoReplyError, RecallError, SendBackError, SendError, ServerOutcome,
};
use crate::send_back::SentBack;
use crate::slab::Id;
use crate::transaction::CheckToken;

/// One accepted operation. Never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub(crate) Id);

impl fmt::Debug for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op {}", self.0)
    }
}

impl OpId {
    /// A small number that no other operation under way has: an index for a driver's own table of waiting callers. It may
    /// be given away again as soon as the operation has ended, even before the event that says so was polled.
    pub fn index(self) -> usize {
        self.0.slot as usize
    }
}

/// One producer registered with [`Client::add_producer`](crate::Client::add_producer).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerId(pub(crate) u32);

impl fmt::Debug for ProducerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "producer {}", self.0)
    }
}

/// Something that happened. Each accepted operation ends in exactly one of `Sent`, `OnewayWritten`, `QueuesFound`,
/// `SendFailed`, `SentBack`, `SendBackFailed`, `Replied`, `RequestFailed`, `Recalled`, `RecallFailed`, `TransactionEnded`,
/// `EndTransactionFailed` and `Cancelled`; these are never dropped. The others inform: when more than
/// [`Limits::notices`](crate::Limits::notices) of them wait, further ones are counted and dropped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A broker stored the message.
    Sent {
        /// The operation.
        op: OpId,
        /// Where it is, and how safe.
        result: SendResult,
    },
    /// All bytes of a one-way send were handed to the stream. No broker confirms it.
    OnewayWritten {
        /// The operation.
        op: OpId,
    },
    /// The queues of a topic are known.
    QueuesFound {
        /// The operation.
        op: OpId,
        /// Those that can be written to, in the order that sends go round; at least one.
        queues: Arc<[MessageQueue]>,
    },
    /// A send, or a question for the queues of a topic, is given up.
    SendFailed {
        /// The operation.
        op: OpId,
        /// What was tried and why it failed.
        error: SendError,
    },
    /// A message was given back: its group consumes it again, or it is a dead letter.
    SentBack {
        /// The operation.
        op: OpId,
        /// By whom.
        how: SentBack,
    },
    /// A message could not be given back. It is still the caller's.
    SendBackFailed {
        /// The operation.
        op: OpId,
        /// What was tried and why it failed.
        error: SendBackError,
    },
    /// A broker took a timer message back: it is not delivered.
    Recalled {
        /// The operation.
        op: OpId,
        /// The message's id.
        message_id: String,
    },
    /// A timer message could not be recalled.
    RecallFailed {
        /// The operation.
        op: OpId,
        /// What was tried and why it failed.
        error: RecallError,
    },
    /// All bytes that tell a broker how a transaction went were handed to the stream. No broker confirms it; one that missed
    /// it asks.
    TransactionEnded {
        /// The operation.
        op: OpId,
    },
    /// A broker could not be told how a transaction went. It asks after a while.
    EndTransactionFailed {
        /// The operation.
        op: OpId,
        /// Why.
        error: EndTransactionError,
    },
    /// A request was replied to.
    Replied {
        /// The operation.
        op: OpId,
        /// The reply, and what is known of the request.
        reply: Box<Replied>,
    },
    /// A request is given up without a reply.
    RequestFailed {
        /// The operation.
        op: OpId,
        /// Why, and what became of the request.
        error: NoReplyError,
    },
    /// An operation was cancelled by [`Client::cancel`](crate::Client::cancel).
    Cancelled {
        /// The operation.
        op: OpId,
    },
    /// A connection is open.
    ConnectionOpened {
        /// The peer.
        address: Address,
    },
    /// A connection ended or could not be opened.
    ConnectionClosed {
        /// The peer.
        address: Address,
        /// Why.
        cause: CloseCause,
        /// Whether it had been open.
        opened: bool,
        /// Whether another connection to this address had taken its place, as its peer had sent the client away.
        replaced: bool,
    },
    /// A server goes away and sent this client away: another connection to its address takes the place of the one it has, which
    /// closes when what was written on it before is answered.
    GoingAway {
        /// The server.
        address: Address,
    },
    /// A broker refused to register this client's producer groups.
    HeartbeatRefused {
        /// The broker.
        address: Address,
        /// Its answer.
        code: ResponseCode,
        /// Its own words, cut at 4 KiB.
        remark: Option<Arc<str>>,
    },
    /// A broker that had refused this client's producer groups registered them.
    HeartbeatAccepted {
        /// The broker.
        address: Address,
    },
    /// The route of a topic is known, or differs from the one before.
    RouteLearned {
        /// The topic.
        topic: Arc<str>,
        /// Brokers that the route names.
        brokers: usize,
        /// Queues that can be written to.
        queues: usize,
        /// Whether another route was known before.
        changed: bool,
    },
    /// A topic's route is not known any more. The next send asks for it anew.
    RouteLost {
        /// The topic.
        topic: Arc<str>,
        /// Why.
        cause: RouteLoss,
    },
    /// No name server answered a question for a route. Routes that are known stay as they are. Told once, until they have
    /// [recovered](Self::NameServersRecovered).
    NameServersFailed {
        /// The topic that was asked about.
        topic: Arc<str>,
        /// What each said. Nothing: a list of name servers was to come, and none did.
        servers: Vec<ServerOutcome>,
    },
    /// A name server answered after [none had](Self::NameServersFailed).
    NameServersRecovered,
    /// Another name server is asked first from now on, as this one failed.
    NameServerSwitched {
        /// The one that failed.
        from: Address,
        /// The next in the list.
        to: Address,
    },
    /// A producer leaves a broker alone while another will do: see [`FaultTolerance`](crate::FaultTolerance). Told once,
    /// however often that time is prolonged, until it has [recovered](Self::BrokerRecovered).
    BrokerIsolated {
        /// Whose table it is.
        producer: ProducerId,
        /// The broker's name.
        broker: Arc<str>,
        /// How long from now.
        span: Duration,
    },
    /// The time was over, and an attempt at the broker showed that it is well.
    BrokerRecovered {
        /// Whose table it is.
        producer: ProducerId,
        /// The broker's name.
        broker: Arc<str>,
    },
    /// [Trace](crate::Trace) records are lost, as their message could not be sent.
    TraceFailed {
        /// The producer whose messages they tell of.
        producer: ProducerId,
        /// How many.
        records: u64,
        /// What was tried and why it failed.
        error: SendError,
    },
    /// A broker asks how a transaction went, as nobody has told it yet. It may be one that another process of the group
    /// began, or this one before it was restarted. [`Client::answer_check`](crate::Client::answer_check) answers, within
    /// 60 s.
    TransactionCheck {
        /// What to answer with.
        token: CheckToken,
        /// The producer of the message's group.
        producer: ProducerId,
        /// The half message, with the topic and the queue that it is meant for. Its body is as it was sent: perhaps
        /// compressed.
        message: StoredMessage,
    },
    /// The client has shut down: nothing more comes.
    ShutDown,
}

/// Why a route is not known any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RouteLoss {
    /// All name servers say that there is no such topic, three times in a row.
    Denied,
    /// Nobody sent to the topic for ten minutes.
    Unused,
    /// Other topics took its place, as [`Limits::topics`](crate::Limits::topics) asks.
    Crowded,
}

impl fmt::Display for RouteLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Denied => "no name server knows the topic any more",
            Self::Unused => "nobody sends to the topic",
            Self::Crowded => "more topics are in use than are kept",
        })
    }
}

/// How safe a stored message is (wire §4.4). In all four cases the broker has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendStatus {
    /// Stored as the broker's settings ask.
    SendOk,
    /// Stored, but the flush to disk was not confirmed in time.
    FlushDiskTimeout,
    /// Stored, but the slave did not confirm in time.
    FlushSlaveTimeout,
    /// Stored, but no slave is there.
    SlaveNotAvailable,
}

impl SendStatus {
    pub(crate) fn of(code: ResponseCode) -> Option<Self> {
        match code {
            ResponseCode::SUCCESS => Some(Self::SendOk),
            ResponseCode::FLUSH_DISK_TIMEOUT => Some(Self::FlushDiskTimeout),
            ResponseCode::FLUSH_SLAVE_TIMEOUT => Some(Self::FlushSlaveTimeout),
            ResponseCode::SLAVE_NOT_AVAILABLE => Some(Self::SlaveNotAvailable),
            _ => None,
        }
    }
}

impl fmt::Display for SendStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SendOk => "SEND_OK",
            Self::FlushDiskTimeout => "FLUSH_DISK_TIMEOUT",
            Self::FlushSlaveTimeout => "FLUSH_SLAVE_TIMEOUT",
            Self::SlaveNotAvailable => "SLAVE_NOT_AVAILABLE",
        })
    }
}

/// A reply, as a broker pushed it (producer §10.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replied {
    /// The reply as [`StoredMessage::pushed`] makes it. Its body may be compressed:
    /// [`StoredMessage::inflate`] is heavy work that is best done elsewhere.
    pub message: StoredMessage,
    /// The id that this client gave the request.
    pub message_id: String,
    /// Attempts it took to send the request, the one that was under way included.
    pub attempts: u32,
    /// Where the request is; none when the reply came before a broker said so.
    pub sent: Option<SendResult>,
}

/// One queue of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageQueue {
    /// The topic.
    pub topic: Arc<str>,
    /// Name of the broker that holds the queue.
    pub broker: Arc<str>,
    /// Number of the queue on that broker.
    pub queue_id: i32,
}

impl fmt::Display for MessageQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.topic, self.broker, self.queue_id)
    }
}

/// What a broker answered to a send (producer §6.2).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendResult {
    /// How safe the message is.
    pub status: SendStatus,
    /// The id this client gave the message (property `UNIQ_KEY`); the same in all attempts. Of a batch the
    /// [ids](Self::message_ids) of all messages, joined by `,`.
    pub message_id: String,
    /// The queue it is in, as the broker said.
    pub queue: MessageQueue,
    /// Its offset in that queue; of a batch that of its first message, which the others follow.
    pub queue_offset: i64,
    /// The broker's own id: store address and commit-log offset. Of a batch those of all messages, joined by `,`.
    pub offset_message_id: String,
    /// Transaction id, where the broker gave one.
    pub transaction_id: Option<String>,
    /// What the message can be [recalled](crate::Recall) by: of timer messages, from brokers since 5.3.2.
    pub recall_handle: Option<String>,
    /// Region of the broker; `DefaultRegion` unless it said otherwise.
    pub region_id: Cow<'static, str>,
    /// Whether the broker wants this message traced.
    pub trace_on: bool,
    /// Attempts it took, from 1.
    pub attempts: u32,
}

impl SendResult {
    /// The ids of the messages of a batch, in their order. Of a single message, and of a batch that the broker keeps as one
    /// message, one id.
    pub fn message_ids(&self) -> impl Iterator<Item = &str> {
        self.message_id.split(ID_SEPARATOR)
    }

    /// The broker's ids, in the same order.
    pub fn offset_message_ids(&self) -> impl Iterator<Item = &str> {
        self.offset_message_id.split(ID_SEPARATOR)
    }

    /// Whether a half message with this result is to be rolled back and the local work left undone, as the broker may lose
    /// it: any status but [`SendOk`](SendStatus::SendOk) (producer §9.1).
    pub fn is_to_be_rolled_back(&self) -> bool {
        self.status != SendStatus::SendOk
    }
}
