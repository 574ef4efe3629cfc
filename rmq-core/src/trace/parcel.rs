//! From records to the messages that carry them.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::{String, ToString};

use rmq_proto::message::{BodyCompression, ID_ROOM, Message, MessageRules, Prepared};
use rmq_proto::properties::{self, KEY_SEPARATOR};
use rmq_proto::trace::TraceRecord;

/// A message is full once its text has so many UTF-16 units.
const FULL: usize = 128_000;
/// Bytes of the properties besides the keys and the id: the names `KEYS` and `WAIT`, `true`, and their separators.
const OTHER_PROPERTIES: usize = 16;
/// Most bytes of a message's keys.
const KEYS_LEN: usize = properties::MAX_LEN - ID_ROOM - OTHER_PROPERTIES;

/// A message to the trace topic.
#[derive(Clone, Debug)]
pub(crate) struct TraceMessage {
    pub(crate) message: Prepared,
    pub(crate) records: u64,
}

/// What becomes of some records.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pub(super) messages: VecDeque<TraceMessage>,
    /// Records that no message can carry.
    pub(super) lost: u64,
}

impl Packed {
    fn add(&mut self, topic: &str, parcel: Parcel) {
        let records = parcel.records;
        match parcel.into_message(topic) {
            Some(message) => self.messages.push_back(TraceMessage { message, records }),
            None => self.lost += records,
        }
    }
}

/// Packs records, those of each topic together. A message has the ids and keys of all its records as its own keys, so that it
/// is found by any of them.
pub(super) fn pack(topic: &str, records: impl Iterator<Item = TraceRecord>) -> Packed {
    let mut packed = Packed::default();
    let mut parcels: BTreeMap<Option<String>, Parcel> = BTreeMap::new();
    for record in records {
        let parcel = parcels.entry(record.topic().map(ToString::to_string)).or_default();
        if !parcel.has_room_for(&record) {
            packed.add(topic, core::mem::take(parcel));
        }
        if !parcel.put(&record) {
            packed.lost += 1;
        }
        if parcel.units >= FULL {
            packed.add(topic, core::mem::take(parcel));
        }
    }
    parcels.into_values().for_each(|parcel| packed.add(topic, parcel));
    packed
}

/// A message as it grows.
#[derive(Debug, Default)]
struct Parcel {
    text: String,
    units: usize,
    keys: BTreeSet<String>,
    /// Of the keys and one separator each.
    keys_len: usize,
    records: u64,
}

impl Parcel {
    /// Whether its properties stay short enough. A record whose keys are too long for any message needs no room: it goes
    /// without them.
    fn has_room_for(&self, record: &TraceRecord) -> bool {
        self.records == 0 || self.keys_len + self.len_of_new(record) <= KEYS_LEN
    }

    fn len_of_new(&self, record: &TraceRecord) -> usize {
        keys(record).filter(|key| !self.keys.contains(*key)).map(|key| key.len() + 1).sum()
    }

    /// False when its text cannot carry the record.
    fn put(&mut self, record: &TraceRecord) -> bool {
        let before = self.text.len();
        if record.encode(&mut self.text).is_err() {
            return false;
        }
        self.units += self.text[before..].encode_utf16().count();
        self.records += 1;
        let all = self.keys_len + self.len_of_new(record) <= KEYS_LEN;
        for key in keys(record).take(if all { usize::MAX } else { 1 }) {
            if self.keys.insert(key.to_string()) {
                self.keys_len += key.len() + 1;
            }
        }
        true
    }

    /// None if it is empty, or if no message can be like it. It is not compressed: that is no work for the core.
    fn into_message(self, topic: &str) -> Option<Prepared> {
        let message = self.keys.into_iter().fold(Message::new(topic, self.text), Message::key);
        let rules =
            MessageRules { max_body_len: usize::MAX, compression: BodyCompression::NONE, namespace: None };
        message.prepare(&rules).ok()
    }
}

/// What a record is found by; its id first.
fn keys(record: &TraceRecord) -> impl Iterator<Item = &str> {
    let keys = record.keys().unwrap_or_default().split(KEY_SEPARATOR);
    core::iter::once(record.message_id()).chain(keys).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use rmq_proto::properties::KEYS;
    use rmq_proto::trace::{self, Recall, SubBefore};

    use super::*;

    fn recall(topic: &str, message_id: &str) -> TraceRecord {
        TraceRecord::Recall(Recall {
            time: 1,
            region: None,
            group: "g".into(),
            topic: topic.into(),
            message_id: message_id.into(),
            success: true,
        })
    }

    fn consumed(message_id: &str, keys: &str) -> TraceRecord {
        TraceRecord::SubBefore(SubBefore {
            time: 1,
            region: None,
            group: "g".into(),
            request_id: "r".into(),
            message_id: message_id.into(),
            retry_times: 0,
            keys: Some(keys.into()),
        })
    }

    fn packed(records: Vec<TraceRecord>) -> Packed {
        pack("T", records.into_iter())
    }

    fn text(message: &TraceMessage) -> &str {
        core::str::from_utf8(message.message.body()).unwrap()
    }

    fn keys_of(message: &TraceMessage) -> &str {
        properties::value(message.message.properties(), KEYS).unwrap()
    }

    fn ids(message: &TraceMessage) -> Vec<String> {
        trace::records(text(message)).map(|record| record.unwrap().message_id().into()).collect()
    }

    #[test]
    fn records_of_each_topic_go_together() {
        let records = [("b", "1"), ("a", "2"), ("b", "3")].map(|(topic, id)| recall(topic, id)).to_vec();
        let packed = packed(records);
        let ids: Vec<_> = packed.messages.iter().map(ids).collect();
        assert_eq!(ids, [["2"].as_slice(), &["1", "3"]]);
        assert!(packed.messages.iter().all(|message| message.message.topic() == "T"));
        assert_eq!(packed.messages[1].records, 2);
    }

    #[test]
    fn a_message_is_found_by_all_ids_and_keys() {
        let packed = packed([consumed("1", "k m"), consumed("2", ""), consumed("3", "k")].to_vec());
        assert_eq!(packed.messages.len(), 1);
        assert_eq!(keys_of(&packed.messages[0]), "1 2 3 k m");
    }

    /// Length is that of Java's strings.
    #[test]
    fn the_record_that_fills_a_message_is_its_last() {
        let long = |id: &str| {
            let TraceRecord::Recall(record) = recall("a", id) else { unreachable!("it is one") };
            TraceRecord::Recall(Recall { region: Some("中".repeat(64_000)), ..record })
        };
        let records = [recall("a", "0"), long("1"), long("2"), recall("a", "3"), recall("a", "4")];
        let packed = packed(records.to_vec());
        let ids: Vec<_> = packed.messages.iter().map(ids).collect();
        assert_eq!(ids, [["0", "1", "2"].as_slice(), &["3", "4"]]);
        assert!(text(&packed.messages[0]).encode_utf16().count() >= FULL);
    }

    #[test]
    fn keys_that_do_not_fit_begin_another_message_or_are_left_out() {
        let (half, over) = ("k".repeat(20_000), "m".repeat(KEYS_LEN));
        let records = [consumed("1", &half), consumed("2", &half), consumed("3", &over), consumed("4", "n")];
        let packed = packed(records.to_vec());
        let keys: Vec<_> = packed.messages.iter().map(keys_of).collect();
        assert_eq!(keys, [format!("1 2 {half}").as_str(), "3 4 n"]);
        let longest = packed.messages.iter().map(|message| message.message.properties().len()).max();
        assert!(longest.is_some_and(|len| len + ID_ROOM <= properties::MAX_LEN));
        let (fits, id) = ("m".repeat(KEYS_LEN - 3), "3");
        let exact = pack("T", [consumed(id, &fits)].into_iter());
        assert_eq!(keys_of(&exact.messages[0]).len(), KEYS_LEN - 1, "the last one has no separator");
    }

    #[test]
    fn what_no_text_can_carry_is_lost_alone() {
        let packed = packed([recall("a", "1"), recall("a", "2\u{1}"), recall("a", "3")].to_vec());
        assert_eq!((ids(&packed.messages[0]), packed.lost), ([String::from("1"), "3".into()].to_vec(), 1));
    }
}
