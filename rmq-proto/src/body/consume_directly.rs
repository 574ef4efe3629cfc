//! What became of one message that a consumer was told to consume (wire §5.23).

use alloc::string::String;

constants! {
    /// What the consumer's listener made of the message (wire §5.23).
    pub enum CmResult in "consumeResult" {
        /// It was consumed.
        Success = "CR_SUCCESS",
        /// It should come again.
        Later = "CR_LATER",
        /// An ordered listener rolled back.
        Rollback = "CR_ROLLBACK",
        /// An ordered listener committed.
        Commit = "CR_COMMIT",
        /// The listener failed.
        ThrowException = "CR_THROW_EXCEPTION",
        /// The listener did not say.
        ReturnNull = "CR_RETURN_NULL",
    }
}

objects! {
    /// The answer to CONSUME_MESSAGE_DIRECTLY (wire §5.23).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ConsumeDirectlyResult {
        /// Whether an ordered consumer commits by itself; true for others.
        auto_commit: bool = "autoCommit",
        /// What the listener made of the message.
        consume_result: CmResult = required "consumeResult",
        /// Whether the consumer is an ordered one.
        order: bool = "order",
        /// Why the listener failed.
        remark: Option<String> = "remark",
        /// How long it took, in milliseconds.
        spent_time_millis: i64 = "spentTimeMills",
    }
}
