//! Codes of these requests do not fit the binary format; they always go out as JSON (wire §3.2). Brokers since 5.0.

use alloc::borrow::Cow;

headers! {
    /// Pops messages: POP_MESSAGE (200050), wire §5.18.
    pub struct PopMessageHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue; -1 is any of the broker's.
        queue_id: i32 = "queueId",
        /// Most messages wanted, 32 at most.
        max_messages: i32 = "maxMsgNums",
        /// How long no other consumer sees the messages, in milliseconds.
        invisible_time: i64 = "invisibleTime",
        /// How long the broker may hold the request until a message comes, in milliseconds.
        poll_time: i64 = "pollTime",
        /// When the request was made, in milliseconds of Unix time. A broker whose clock is ahead by `poll_time` and half a
        /// second more answers 210 at once.
        born_time: i64 = "bornTime",
        /// Where a new group begins: [`FROM_MIN`](Self::FROM_MIN) or [`FROM_MAX`](Self::FROM_MAX).
        init_mode: i32 = "initMode",
        /// What `expression` is written in: `TAG` by default, or `SQL92`.
        expression_type: Option<Cow<'a, str>> = "expType",
        /// What to select; all by default.
        expression: Option<Cow<'a, str>> = "exp",
        /// Whether messages are popped in order; false by default.
        order: Option<bool> = "order",
        /// Names one attempt to pop in order; the same attempt made again may get the same messages.
        attempt_id: Option<Cow<'a, str>> = "attemptId",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// How a pop went: the answer to request 200050, wire §5.18. The texts are those of wire §11.1.
    pub struct PopResponseHeader<'a> {
        /// When the messages were popped, in milliseconds of Unix time by the broker's clock.
        pop_time: i64 = "popTime",
        /// How long no other consumer sees them, in milliseconds.
        invisible_time: i64 = "invisibleTime",
        /// The queue in which the broker keeps account of the pop; 999 if it was in order.
        revive_queue_id: i32 = "reviveQid",
        /// How many more messages there are.
        rest: i64 = "restNum",
        /// By queue, the queue offset at which the pop began.
        start_offset_info: Option<Cow<'a, str>> = "startOffsetInfo",
        /// By queue, the queue offsets of the messages.
        message_offset_info: Option<Cow<'a, str>> = "msgOffsetInfo",
        /// By queue or message, how often messages were popped in order before.
        order_count_info: Option<Cow<'a, str>> = "orderCountInfo",
    }

    /// Settles a popped message: ACK_MESSAGE (200051), wire §5.18. The response has no fields; its code is 208 if the offset
    /// is not in the queue.
    pub struct AckMessageHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The topic that the message was popped from, be it a retry topic (wire §11.1).
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// The message's property POP_CK.
        extra_info: Cow<'a, str> = "extraInfo",
        /// The message's queue offset.
        offset: i64 = "offset",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Changes when a popped message comes back: CHANGE_MESSAGE_INVISIBLETIME (200053), wire §5.18.
    pub struct ChangeInvisibleTimeHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The topic that the message was popped from, be it a retry topic (wire §11.1).
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// The message's property POP_CK.
        extra_info: Cow<'a, str> = "extraInfo",
        /// The message's queue offset.
        offset: i64 = "offset",
        /// How long from now no other consumer sees the message, in milliseconds.
        invisible_time: i64 = "invisibleTime",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// What the message's new POP_CK is made from: the answer to request 200053, wire §5.18.
    pub struct ChangeInvisibleTimeResponseHeader {
        /// When the message counts as popped, in milliseconds of Unix time by the broker's clock.
        pop_time: i64 = "popTime",
        /// How long no other consumer sees it, in milliseconds.
        invisible_time: i64 = "invisibleTime",
        /// The queue in which the broker keeps account of it.
        revive_queue_id: i32 = "reviveQid",
    }
}

impl PopMessageHeader<'_> {
    /// `init_mode` of a new group that is to begin at each queue's first message.
    pub const FROM_MIN: i32 = 0;

    /// `init_mode` of a new group that is to begin at each queue's end.
    pub const FROM_MAX: i32 = 1;
}
