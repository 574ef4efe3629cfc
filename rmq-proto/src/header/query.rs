use alloc::borrow::Cow;

headers! {
    /// Finds messages by key: QUERY_MESSAGE (12), wire §5.10. The messages come in the response's body; the index is of
    /// hashes, so others may be among them.
    pub struct QueryMessageHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// One of the messages' keys, or a message's id as its producer knows it.
        key: Cow<'a, str> = "key",
        /// Most messages wanted.
        max_messages: i32 = "maxNum",
        /// Start of the time in which they were stored, in milliseconds of Unix time.
        begin_timestamp: i64 = "beginTimestamp",
        /// End of that time, in milliseconds of Unix time.
        end_timestamp: i64 = "endTimestamp",
        /// Whether `key` is a message's id; the broker then has its own idea of most messages. False by default. Whether a
        /// signature covers this field depends on the broker's version (wire §8.2).
        by_unique_key: Option<bool> = "_UNIQUE_KEY_QUERY",
    }

    /// How far a broker's index of keys reaches: the answer to request 12, wire §5.10.
    pub struct QueryResponseHeader {
        /// When the last message in the index was stored, in milliseconds of Unix time.
        last_update_timestamp: i64 = "indexLastUpdateTimestamp",
        /// That message's offset in the commit log.
        last_update_commit_log_offset: i64 = "indexLastUpdatePhyoffset",
    }

    /// Reads one message: VIEW_MESSAGE_BY_ID (33), wire §5.11. It goes to the address in the message's offset id; the message
    /// comes in the body of a response without fields.
    pub struct ViewMessageHeader<'a> {
        /// The message's offset in the commit log: that in its offset id.
        commit_log_offset: i64 = "offset",
        /// The topic, for the permissions of brokers since 5.3.
        topic: Option<Cow<'a, str>> = "topic",
    }
}
