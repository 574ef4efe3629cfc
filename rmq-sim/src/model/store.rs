//! What a broker keeps of messages.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use rmq_proto::compress::DEFAULT_MAX_LEN;
use rmq_proto::id::OffsetMessageId;
use rmq_proto::message::{RecordVersion, SysFlag, body_crc};
use rmq_proto::properties;

use super::broker::delay::WAITING_TOPIC;
use super::broker::timer::TIMER_TOPIC;
use super::broker::transactions::HALF_TOPIC;

/// Bytes of a record besides body, topic and properties, both hosts being IPv4 (wire §6.1).
const RECORD_FIXED_LEN: usize = 91;

/// What an IPv6 host adds to a record (wire §6.1).
const RECORD_V6_HOST_LEN: usize = 12;

/// A message as the broker stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Counts the messages of the whole cluster in the order of storing.
    pub sequence: u64,
    /// Broker.
    pub broker: Arc<str>,
    /// Topic.
    pub topic: Arc<str>,
    /// Queue of the topic.
    pub queue_id: i32,
    /// Place in the queue, from 0.
    pub queue_offset: i64,
    /// Place in the broker's commit log: the sum of the lengths of all records before.
    pub commit_log_offset: i64,
    /// Body as sent, compressed if the client did so.
    pub body: Bytes,
    /// Properties, the broker's own included (wire §6.4).
    pub properties: String,
    /// The user's flag.
    pub flag: i32,
    /// Flags of the system (wire §6.3).
    pub sys_flag: i32,
    /// What the client says about the message's birth, in milliseconds since the Unix epoch.
    pub born_timestamp: i64,
    /// When it was stored, in milliseconds since the Unix epoch.
    pub store_timestamp: i64,
    /// The client's end of the connection.
    pub born_host: SocketAddr,
    /// The broker's address.
    pub store_host: SocketAddr,
    /// How often it was consumed in vain.
    pub reconsume_times: i32,
    /// The group that sent it.
    pub producer_group: String,
    /// The commit-log offset of the half message that it was; 0 for other messages (wire §6.1).
    pub prepared_transaction_offset: i64,
}

impl StoredMessage {
    /// The value of a property; of duplicates the last.
    pub fn property(&self, name: &str) -> Option<&str> {
        properties::value(&self.properties, name)
    }

    /// The id that the client gave it (wire §6.5); to a message of a batch, the batch's (wire §6.4).
    pub fn unique_key(&self) -> Option<&str> {
        self.property(properties::UNIQ_KEY)
    }

    /// The id that the client gave it, and told its user; a message of a batch has the batch's behind its own.
    pub fn own_unique_key(&self) -> Option<&str> {
        properties::first_value(&self.properties, properties::UNIQ_KEY)
    }

    /// The body as its sender gave it; one that cannot be inflated is as it is stored.
    pub fn plain_body(&self) -> Bytes {
        let mut record = self.record();
        // A failure leaves the body as it was.
        let _ = record.inflate(DEFAULT_MAX_LEN);
        record.body
    }

    /// Topic and queue that it was sent to, where it waits elsewhere (wire §5.5).
    pub(crate) fn meant_for(&self) -> Option<(Arc<str>, i32)> {
        let queue_id = self.property(properties::REAL_QID)?.parse().ok()?;
        Some((self.property(properties::REAL_TOPIC)?.into(), queue_id))
    }

    /// Whether it is a half message: where it goes if it is committed is in its properties.
    pub fn is_half(&self) -> bool {
        &*self.topic == HALF_TOPIC
    }

    /// Whether it waits for its delay or timer to be over; where it goes then is in its properties.
    pub fn is_waiting(&self) -> bool {
        [WAITING_TOPIC, TIMER_TOPIC].contains(&&*self.topic)
    }

    /// The message as a consumer would read it (wire §6.1).
    pub fn record(&self) -> rmq_proto::message::StoredMessage {
        rmq_proto::message::StoredMessage {
            version: RecordVersion::for_topic(&self.topic),
            body_crc: body_crc(&self.body),
            queue_id: self.queue_id,
            flag: self.flag,
            queue_offset: self.queue_offset,
            commit_log_offset: self.commit_log_offset,
            sys_flag: SysFlag(self.sys_flag).with_hosts(&self.born_host, &self.store_host),
            born_timestamp: self.born_timestamp,
            born_host: self.born_host,
            store_timestamp: self.store_timestamp,
            store_host: self.store_host,
            reconsume_times: self.reconsume_times,
            prepared_transaction_offset: self.prepared_transaction_offset,
            body: self.body.clone(),
            topic: Arc::clone(&self.topic),
            properties: self.properties.clone(),
        }
    }

    /// The id that says where it is (wire §6.5).
    pub const fn offset_id(&self) -> OffsetMessageId {
        OffsetMessageId { host: self.store_host, offset: self.commit_log_offset }
    }

    /// Length of the record in the commit log, in bytes (wire §6.1). The magic of long topics, which no client can send
    /// to, is left out.
    pub fn record_len(&self) -> usize {
        let hosts = [self.born_host, self.store_host];
        let v6_hosts = hosts.iter().filter(|host| host.is_ipv6()).count();
        RECORD_FIXED_LEN
            + v6_hosts * RECORD_V6_HOST_LEN
            + self.body.len()
            + self.topic.len()
            + self.properties.len()
    }
}

/// The newest messages of one broker.
#[derive(Clone, Debug)]
pub struct Store {
    retain: usize,
    retain_bytes: usize,
    kept_bytes: usize,
    messages: VecDeque<StoredMessage>,
    /// How many messages were dropped: the index of the first one kept.
    dropped: u64,
    queues: BTreeMap<Arc<str>, BTreeMap<i32, Queue>>,
    unique_keys: BTreeMap<Box<str>, Copies>,
    commit_log_end: i64,
}

/// Indices of the messages that have the same `UNIQ_KEY` and are kept. Nearly always it is one.
#[derive(Clone, Debug)]
struct Copies {
    newest: u64,
    /// In order.
    older: VecDeque<u64>,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    end: i64,
    /// Indices of those messages that are kept.
    kept: VecDeque<u64>,
}

impl Store {
    pub(crate) const fn new(retain: usize, retain_bytes: usize) -> Self {
        Self {
            retain,
            retain_bytes,
            kept_bytes: 0,
            messages: VecDeque::new(),
            dropped: 0,
            queues: BTreeMap::new(),
            unique_keys: BTreeMap::new(),
            commit_log_end: 0,
        }
    }

    /// Like [`append`](Self::append), but with the deliberate bugs of a broker; `sequence` is that of the next message.
    #[cfg(rmq_mutate)]
    pub(crate) fn append_mutated(&mut self, message: StoredMessage, sequence: &mut u64) -> (i64, i64) {
        use rmq_core::mutate::{Mutation, is};
        let struck = sequence.is_multiple_of(50);
        if struck && is(Mutation::ModelStoresNothing) {
            let queue = self.queues.get(&message.topic).and_then(|queues| queues.get(&message.queue_id));
            return (queue.map_or(0, |queue| queue.end), self.commit_log_end);
        }
        if struck && is(Mutation::ModelStoresTwice) {
            self.append(message.clone());
            *sequence += 1;
            return self.append(StoredMessage { sequence: message.sequence + 1, ..message });
        }
        self.append(message)
    }

    /// Stores a message whose offsets are yet to be given, and returns queue offset and commit-log offset.
    pub(crate) fn append(&mut self, mut message: StoredMessage) -> (i64, i64) {
        let index = self.dropped + self.messages.len() as u64;
        let queues = self.queues.entry(Arc::clone(&message.topic)).or_default();
        let queue = queues.entry(message.queue_id).or_default();
        message.queue_offset = queue.end;
        message.commit_log_offset = self.commit_log_end;
        queue.end += 1;
        queue.kept.push_back(index);
        let offsets = (message.queue_offset, message.commit_log_offset);
        let len = message.record_len();
        self.commit_log_end = self.commit_log_end.saturating_add_unsigned(len as u64);
        self.kept_bytes += len;
        if let Some(key) = message.own_unique_key() {
            if let Some(copies) = self.unique_keys.get_mut(key) {
                copies.older.push_back(std::mem::replace(&mut copies.newest, index));
            } else {
                self.unique_keys.insert(key.into(), Copies { newest: index, older: VecDeque::new() });
            }
        }
        self.messages.push_back(message);
        while self.messages.len() > self.retain || self.kept_bytes > self.retain_bytes {
            self.drop_oldest();
        }
        offsets
    }

    fn drop_oldest(&mut self) {
        let Some(message) = self.messages.pop_front() else { return };
        self.dropped += 1;
        self.kept_bytes -= message.record_len();
        if let Some(queue) =
            self.queues.get_mut(&message.topic).and_then(|queues| queues.get_mut(&message.queue_id))
        {
            queue.kept.pop_front();
        }
        if let Some(key) = message.own_unique_key()
            && let Some(copies) = self.unique_keys.get_mut(key)
            && copies.older.pop_front().is_none()
        {
            self.unique_keys.remove(key);
        }
    }

    /// The messages that are kept, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &StoredMessage> + ExactSizeIterator {
        self.messages.iter()
    }

    /// How many messages were ever stored, dropped ones included.
    pub fn total(&self) -> u64 {
        self.dropped + self.messages.len() as u64
    }

    /// The offset of the next message of a queue.
    pub fn end(&self, topic: &str, queue_id: i32) -> i64 {
        self.queues.get(topic).and_then(|queues| queues.get(&queue_id)).map_or(0, |queue| queue.end)
    }

    /// The offset of the first message of a queue that is kept, or of the next one; 0 in a queue that never had any.
    pub fn begin(&self, topic: &str, queue_id: i32) -> i64 {
        let queue = self.queues.get(topic).and_then(|queues| queues.get(&queue_id));
        queue.map_or(0, |queue| queue.end - queue.kept.len() as i64)
    }

    /// The message at an offset of a queue; `None` when there is none or it is no longer kept.
    pub fn at(&self, topic: &str, queue_id: i32, queue_offset: i64) -> Option<&StoredMessage> {
        let queue = self.queues.get(topic)?.get(&queue_id)?;
        let first_kept = queue.end - queue.kept.len() as i64;
        let place = usize::try_from(queue_offset.checked_sub(first_kept)?).ok()?;
        self.by_index(*queue.kept.get(place)?)
    }

    /// The message that begins at an offset of the commit log, if it is kept.
    pub fn by_commit_log_offset(&self, offset: i64) -> Option<&StoredMessage> {
        let place = self.messages.binary_search_by_key(&offset, |message| message.commit_log_offset).ok()?;
        self.messages.get(place)
    }

    /// Most messages that are kept.
    pub(crate) const fn retain(&self) -> usize {
        self.retain
    }

    /// The message with this [`sequence`](StoredMessage::sequence), if this broker stored it and keeps it.
    pub fn by_sequence(&self, sequence: u64) -> Option<&StoredMessage> {
        let place = self.messages.binary_search_by_key(&sequence, |message| message.sequence).ok()?;
        self.messages.get(place)
    }

    /// The newest message with this `UNIQ_KEY` of its own.
    pub fn by_unique_key(&self, key: &str) -> Option<&StoredMessage> {
        self.by_index(self.unique_keys.get(key)?.newest)
    }

    /// All messages with this `UNIQ_KEY` that are kept, oldest first. More than one: a client sent it again.
    pub fn all_by_unique_key(&self, key: &str) -> impl Iterator<Item = &StoredMessage> {
        let copies = self.unique_keys.get(key);
        let indices = copies.into_iter().flat_map(|copies| copies.older.iter().chain([&copies.newest]));
        indices.filter_map(|&index| self.by_index(index))
    }

    /// How many messages with this `UNIQ_KEY` are kept.
    pub fn copies(&self, key: &str) -> usize {
        self.unique_keys.get(key).map_or(0, |copies| copies.older.len() + 1)
    }

    fn by_index(&self, index: u64) -> Option<&StoredMessage> {
        self.messages.get(usize::try_from(index.checked_sub(self.dropped)?).ok()?)
    }
}
