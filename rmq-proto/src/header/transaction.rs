use alloc::borrow::Cow;

headers! {
    /// Commits or rolls back a half message: END_TRANSACTION (37), wire §5.14. One-way; the command's remark may say why.
    pub struct EndTransactionHeader<'a> {
        /// The producer's group; must be the one in the half message.
        producer_group: Cow<'a, str> = "producerGroup",
        /// The half message's queue offset: `queueOffset` of the send's response, or what the check says.
        transaction_offset: i64 = "tranStateTableOffset",
        /// The half message's offset in the commit log: that inside `msgId` of the send's response, or what the check says.
        commit_log_offset: i64 = "commitLogOffset",
        /// A number of [`TransactionState`].
        commit_or_rollback: i32 = "commitOrRollback",
        /// Whether this answers a check. False by default; always send it.
        from_check: Option<bool> = "fromTransactionCheck",
        /// The message's id as its producer knows it, not the offset id.
        message_id: Cow<'a, str> = "msgId",
        /// `transactionId` of the send's response or of the check, if there was one; 4.9.7 sends none after a send.
        transaction_id: Option<Cow<'a, str>> = "transactionId",
        /// After a send the user's topic, after a check the check's. For the permissions of brokers since 5.3.
        topic: Option<Cow<'a, str>> = "topic",
        /// The name of the broker that is meant (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Asks a producer how a transaction went: CHECK_TRANSACTION_STATE (39), wire §5.15. From a broker, one-way; the
    /// answer is a request 37 to the same broker. The body is the half message.
    pub struct CheckTransactionHeader<'a> {
        /// The topic of half messages, not the user's. Brokers since 5.3.
        topic: Option<Cow<'a, str>> = "topic",
        /// The half message's queue offset now, for request 37. Not the one of the send.
        transaction_offset: i64 = "tranStateTableOffset",
        /// The half message's offset in the commit log now, for request 37. Not the one of the send.
        commit_log_offset: i64 = "commitLogOffset",
        /// The message's id as its producer knows it.
        message_id: Option<Cow<'a, str>> = "msgId",
        /// The transaction's id: the same.
        transaction_id: Option<Cow<'a, str>> = "transactionId",
        /// The offset id of the message in the body.
        offset_message_id: Option<Cow<'a, str>> = "offsetMsgId",
        /// The broker's name. 4.9.7 does not send it.
        broker_name: Option<Cow<'a, str>> = "bname",
    }
}

/// How a transaction went, in `commitOrRollback` of an END_TRANSACTION (wire §5.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TransactionState {
    /// Not known yet: the broker asks again.
    #[default]
    Unknown = 0,
    /// The message is to be delivered.
    Commit = 8,
    /// The message is to be dropped.
    Rollback = 12,
}

impl TransactionState {
    /// What the number means, if anything.
    pub const fn from_i32(number: i32) -> Option<Self> {
        match number {
            0 => Some(Self::Unknown),
            8 => Some(Self::Commit),
            12 => Some(Self::Rollback),
            _ => None,
        }
    }

    /// The number on the wire.
    pub const fn to_i32(self) -> i32 {
        self as i32
    }
}
