//! What a broker makes of a message's properties.

use std::collections::BTreeMap;

use rmq_proto::properties::{
    self, CLUSTER, MSG_REGION, NAME_SEPARATOR, POP_CK, PROPERTY_SEPARATOR, TRACE_ON, TRAN_MSG, UNIQ_KEY, WAIT,
};

use super::{CLUSTER_NAME, delay};
use crate::model::answer::REGION;
use crate::model::profile::ProfileRules;

/// The properties of a record (wire §5.1, §6.4): the client's, of duplicates the last, and the broker's own. Their order
/// is free.
///
/// 4.9.7 leaves `WAIT` out, but for delayed and half messages (wire §5.1).
///
/// `fresh_key` is asked for a `UNIQ_KEY` when there is none and the release adds one.
pub(super) fn stored<K: AsRef<str>>(
    rules: &ProfileRules,
    text: &str,
    fresh_key: impl FnOnce() -> K,
) -> String {
    let mut map: BTreeMap<&str, &str> = properties::iter(text).collect();
    let fresh = (rules.completes_properties && !map.contains_key(UNIQ_KEY)).then(fresh_key);
    if let Some(fresh) = &fresh {
        map.insert(UNIQ_KEY, fresh.as_ref());
    }
    map.insert(CLUSTER, CLUSTER_NAME);
    if rules.completes_properties {
        map.insert(MSG_REGION, REGION);
        map.insert(TRACE_ON, "true");
        map.remove(POP_CK);
    }
    let waits = delay::level(text).is_some() || map.contains_key(TRAN_MSG);
    if !rules.stores_wait && !waits {
        map.remove(WAIT);
    }
    encode(rules, &map)
}

/// The properties that each record of a batch gets behind those of its message (wire §6.4): the batch's, `WAIT` always among
/// them, and the broker's own. No release adds a `UNIQ_KEY` (seen on both).
pub(super) fn of_batch(rules: &ProfileRules, text: &str) -> String {
    let mut map: BTreeMap<&str, &str> = properties::iter(text).collect();
    map.insert(CLUSTER, CLUSTER_NAME);
    if rules.completes_properties {
        map.insert(MSG_REGION, REGION);
        map.insert(TRACE_ON, "true");
    }
    encode(rules, &map)
}

/// The properties of a record with some changed: set, or taken away.
pub(super) fn changed(rules: &ProfileRules, text: &str, changes: &[(&str, Option<&str>)]) -> String {
    let mut map: BTreeMap<&str, &str> = properties::iter(text).collect();
    for (name, value) in changes {
        match value {
            Some(value) => map.insert(name, value),
            None => map.remove(name),
        };
    }
    encode(rules, &map)
}

fn encode(rules: &ProfileRules, map: &BTreeMap<&str, &str>) -> String {
    let len: usize = map.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    let mut stored = String::with_capacity(len);
    for (name, value) in map {
        stored.push_str(name);
        stored.push(NAME_SEPARATOR);
        stored.push_str(value);
        stored.push(PROPERTY_SEPARATOR);
    }
    if !rules.trailing_separator {
        stored.pop();
    }
    stored
}
