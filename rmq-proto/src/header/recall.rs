use alloc::borrow::Cow;

headers! {
    /// Takes back a timer message that is not delivered yet: RECALL_MESSAGE (370), wire §5.19. Brokers since 5.3.2. It goes to
    /// the broker that the handle names.
    pub struct RecallMessageHeader<'a> {
        /// The producer's group.
        producer_group: Option<Cow<'a, str>> = "producerGroup",
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// `recallHandle` of the send's response (wire §11.2).
        recall_handle: Cow<'a, str> = "recallHandle",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Which message was taken back: the answer to request 370, wire §5.19.
    pub struct RecallResponseHeader<'a> {
        /// The message's id as its producer knows it.
        message_id: Cow<'a, str> = "msgId",
    }
}
