use alloc::borrow::Cow;

headers! {
    /// Asks how far a group came in a queue: QUERY_CONSUMER_OFFSET (14), wire §5.4. The answer is an
    /// [`OffsetResponseHeader`], or code 22 without fields if the broker has no offset.
    pub struct QueryOffsetHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// Whether a group without offset is told 0 if the queue's first message is still in memory; true by default.
        /// `false` asks for code 22 then. Brokers since 5.0; older ones always may say 0.
        set_zero_if_not_found: Option<bool> = "setZeroIfNotFound",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Stores how far a group came in a queue: UPDATE_CONSUMER_OFFSET (15), wire §5.4. The response has no fields.
    pub struct UpdateOffsetHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// The queue offset of the next message to consume.
        commit_offset: i64 = "commitOffset",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Finds the queue offset at a time: SEARCH_OFFSET_BY_TIMESTAMP (29), wire §5.4. The answer is an
    /// [`OffsetResponseHeader`].
    pub struct SearchOffsetHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// The time, in milliseconds of Unix time.
        timestamp: i64 = "timestamp",
        /// Which of several messages of that time: a name of [`BoundaryType`]. The lower one by default; brokers before
        /// 5.2 always give that.
        boundary_type: Option<Cow<'a, str>> = "boundaryType",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Asks for the end of a queue: GET_MAX_OFFSET (30), wire §5.4. The answer is an [`OffsetResponseHeader`] with the
    /// offset of the message to come.
    pub struct GetMaxOffsetHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// Whether only messages that can be pulled already count; true by default.
        committed: Option<bool> = "committed",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Asks for the start of a queue: GET_MIN_OFFSET (31), wire §5.4. The answer is an [`OffsetResponseHeader`].
    pub struct GetMinOffsetHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Asks when a queue's first message was stored: GET_EARLIEST_MSG_STORETIME (32), wire §5.4.
    pub struct GetEarliestStoreTimeHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// The name of the broker that is meant.
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// A queue offset: the answer to requests 14, 29, 30 and 31, wire §5.4.
    pub struct OffsetResponseHeader {
        /// The queue offset.
        offset: i64 = "offset",
    }

    /// When a queue's first message was stored: the answer to request 32, wire §5.4.
    pub struct EarliestStoreTimeResponseHeader {
        /// The time, in milliseconds of Unix time; -1 if there is no message.
        timestamp: i64 = "timestamp",
    }
}

/// Which of several messages of one time a search by time finds (wire §5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum BoundaryType {
    /// The first.
    #[default]
    Lower,
    /// The last.
    Upper,
}

impl BoundaryType {
    /// What the name means to a broker: `upper`, in any case, is [`Upper`](Self::Upper) and anything else
    /// [`Lower`](Self::Lower).
    pub fn from_name(name: &str) -> Self {
        if name.eq_ignore_ascii_case("upper") { Self::Upper } else { Self::Lower }
    }

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lower => "LOWER",
            Self::Upper => "UPPER",
        }
    }
}
