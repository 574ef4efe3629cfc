//! What a consumer subscribes to (wire §5.6).

use alloc::string::String;
use alloc::vec::Vec;

/// A subscription by tags: `*`, or tags joined by ` || ` (wire §5.6).
pub const EXPRESSION_TAG: &str = "TAG";

/// A subscription by a condition on properties (wire §5.6).
pub const EXPRESSION_SQL92: &str = "SQL92";

objects! {
    /// One topic that a consumer subscribes to.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SubscriptionData {
        /// Unused; false.
        class_filter_mode: bool = "classFilterMode",
        /// Java's hash of each tag.
        code_set: Vec<i32> = "codeSet",
        /// [`EXPRESSION_TAG`] or [`EXPRESSION_SQL92`].
        expression_type: String = "expressionType" or EXPRESSION_TAG.into(),
        /// The expression, of the kind that `expression_type` says.
        sub_string: String = required "subString",
        /// When the subscription was made, in milliseconds since the Unix epoch. It has to grow with each change.
        sub_version: i64 = "subVersion",
        /// The tags in the expression; none for `*` and for a condition.
        tags_set: Vec<String> = "tagsSet",
        /// The topic.
        topic: String = required "topic",
    }
}
