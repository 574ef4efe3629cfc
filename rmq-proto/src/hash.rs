//! Java's hash of a text, which brokers select tags by and heartbeats are told apart by (wire §6.4, §9.5).

/// `String.hashCode()` of Java: over UTF-16 units, wrapping.
///
/// ```
/// assert_eq!(rmq_proto::hash::java_hash("TagA"), 2_598_919);
/// ```
pub fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// What a broker stores of a message's tag to select by: the tag's hash, sign-extended (wire §6.4).
///
/// ```
/// assert_eq!(rmq_proto::hash::tag_code("TagA"), 2_598_919);
/// ```
pub fn tag_code(tag: &str) -> i64 {
    java_hash(tag).into()
}
