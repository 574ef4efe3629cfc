use alloc::borrow::Cow;

headers! {
    /// Gives a message back to its broker, to be consumed later: CONSUMER_SEND_MSG_BACK (36), wire §5.5. It has no body, and
    /// the response has no fields.
    pub struct SendBackHeader<'a> {
        /// The message's offset in the commit log, not in its queue.
        commit_log_offset: i64 = "offset",
        /// The consumers' group.
        group: Cow<'a, str> = "group",
        /// When to consume it again: a delay level, 0 for what the broker picks, or less for never: a dead letter.
        delay_level: i32 = "delayLevel",
        /// The message's id as its producer knows it, not the offset id.
        origin_message_id: Option<Cow<'a, str>> = "originMsgId",
        /// The user's topic, also of a message that came from a retry topic.
        origin_topic: Option<Cow<'a, str>> = "originTopic",
        /// Unit mode (wire §9.6); false by default. Always send it.
        unit_mode: Option<bool> = "unitMode",
        /// After how many times the message is a dead letter. Java sends 16 by default.
        max_reconsume_times: Option<i32> = "maxReconsumeTimes",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }
}
