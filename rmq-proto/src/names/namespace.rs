//! Namespaces of version 1: clients put them before the names of topics and groups, and take them off what they show
//! (wire §7.3). Brokers see ordinary names with a `%` in them. A message sent so also has the property `INSTANCE_ID`.
//!
//! Version 2 wraps nothing and sends [`CommonHeader::namespace`](crate::header::CommonHeader::namespace) instead: it is one or
//! the other.

use alloc::borrow::Cow;

use super::{
    DEAD_LETTER_PREFIX, MAX_GROUP_LEN, RETRY_PREFIX, SYSTEM_GROUP_PREFIX, is_name_char, is_system_topic,
};

/// Most characters in a namespace, so that it, a `%` and a name of one character are as long as a group may be.
pub const MAX_LEN: usize = MAX_GROUP_LEN - 2;

/// Stands between a namespace and a name.
const SEPARATOR: &str = "%";

/// Whether names can be put into a namespace of this name: 1 to [`MAX_LEN`] of the characters that names have. A `%` is
/// none of them: clients that know the namespace could tell where it ends, others could not.
pub fn is_valid(namespace: &str) -> bool {
    !namespace.is_empty()
        && namespace.len() <= MAX_LEN
        && namespace.chars().all(|c| is_name_char(c) && c != '%')
}

/// Puts a topic or a group into a namespace. `%RETRY%` and `%DLQ%` stay in front.
///
/// What is in the namespace already stays as it is, and so do system topics, groups that begin with `CID_RMQ_SYS_`, and all
/// names if the namespace is empty.
///
/// ```
/// use rmq_proto::names::namespace;
///
/// assert_eq!(namespace::wrap("INST", "orders"), "INST%orders");
/// assert_eq!(namespace::wrap("INST", "%RETRY%billing"), "%RETRY%INST%billing");
/// assert_eq!(namespace::unwrap("INST", "%RETRY%INST%billing"), "%RETRY%billing");
/// ```
pub fn wrap<'a>(namespace: &str, name: &'a str) -> Cow<'a, str> {
    let (prefix, rest) = split_prefix(name);
    if namespace.is_empty() || name.is_empty() || is_system(name) || inside(namespace, rest).is_some() {
        return Cow::Borrowed(name);
    }
    Cow::Owned([prefix, namespace, SEPARATOR, rest].concat())
}

/// Takes a topic or a group out of a namespace. What is in none, in another or of the system stays as it is.
pub fn unwrap<'a>(namespace: &str, name: &'a str) -> Cow<'a, str> {
    if namespace.is_empty() || is_system(name) {
        return Cow::Borrowed(name);
    }
    let (prefix, rest) = split_prefix(name);
    inside(namespace, rest).map_or(Cow::Borrowed(name), |rest| with_prefix(prefix, rest))
}

/// Takes a topic or a group out of whatever namespace it is in: all up to the first `%`, as far as that is not the first
/// character. A name that only looks so, as any may have a `%`, loses a part of itself: prefer [`unwrap`].
pub fn unwrap_any(name: &str) -> Cow<'_, str> {
    if is_system(name) {
        return Cow::Borrowed(name);
    }
    let (prefix, rest) = split_prefix(name);
    match rest.split_once(SEPARATOR) {
        Some((namespace, rest)) if !namespace.is_empty() => with_prefix(prefix, rest),
        _ => Cow::Borrowed(name),
    }
}

fn is_system(name: &str) -> bool {
    is_system_topic(name) || name.starts_with(SYSTEM_GROUP_PREFIX)
}

/// What stays in front of a namespace, and the rest.
fn split_prefix(name: &str) -> (&'static str, &str) {
    for prefix in [RETRY_PREFIX, DEAD_LETTER_PREFIX] {
        if let Some(rest) = name.strip_prefix(prefix) {
            return (prefix, rest);
        }
    }
    ("", name)
}

/// The name behind the namespace, if there is this one.
fn inside<'a>(namespace: &str, rest: &'a str) -> Option<&'a str> {
    rest.strip_prefix(namespace)?.strip_prefix(SEPARATOR)
}

fn with_prefix<'a>(prefix: &str, rest: &'a str) -> Cow<'a, str> {
    if prefix.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned([prefix, rest].concat()) }
}
