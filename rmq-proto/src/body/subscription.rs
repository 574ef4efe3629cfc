//! What a consumer subscribes to (wire §5.6).

use alloc::string::String;
use alloc::vec::Vec;

use crate::hash::java_hash;

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

impl SubscriptionData {
    /// A subscription by tags: `*`, or tags joined by `||`. `version` is when it is made, in milliseconds since the Unix epoch.
    ///
    /// Blanks around tags, empty tags and repeated ones are left out of the list; an empty expression means `*`
    /// (wire §5.6).
    ///
    /// ```
    /// use rmq_proto::body::SubscriptionData;
    ///
    /// let subscription = SubscriptionData::of_tags("TopicTest", "TagA || TagB", 1_700_000_000_000);
    /// assert_eq!(subscription.tags_set, ["TagA", "TagB"]);
    /// assert_eq!(subscription.code_set, [2_598_919, 2_598_920]);
    /// assert!(SubscriptionData::of_tags("TopicTest", "*", 1).tags_set.is_empty());
    /// ```
    pub fn of_tags(topic: impl Into<String>, expression: &str, version: i64) -> Self {
        let expression = if expression.trim().is_empty() { ALL } else { expression };
        let mut tags_set: Vec<String> = Vec::new();
        if expression.trim() != ALL {
            for tag in expression.split("||").map(str::trim).filter(|tag| !tag.is_empty()) {
                if !tags_set.iter().any(|known| known == tag) {
                    tags_set.push(tag.into());
                }
            }
        }
        Self {
            code_set: tags_set.iter().map(|tag| java_hash(tag)).collect(),
            tags_set,
            expression_type: EXPRESSION_TAG.into(),
            sub_string: expression.into(),
            sub_version: version,
            topic: topic.into(),
            class_filter_mode: false,
        }
    }

    /// A subscription by a condition of SQL92 on properties; brokers have to allow it. `version` as for
    /// [`of_tags`](Self::of_tags).
    pub fn of_condition(topic: impl Into<String>, condition: impl Into<String>, version: i64) -> Self {
        Self {
            expression_type: EXPRESSION_SQL92.into(),
            sub_string: condition.into(),
            sub_version: version,
            topic: topic.into(),
            ..Self::default()
        }
    }
}

/// The expression that all messages match.
const ALL: &str = "*";
