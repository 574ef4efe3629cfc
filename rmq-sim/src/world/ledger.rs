//! What was acknowledged, and what is stored.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use rmq_core::Instant;
use rmq_proto::properties::{KEY_SEPARATOR, KEYS};

use crate::model::{Broker, StoredMessage};
use crate::net::Network;

/// What names a message that somebody was told is safe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Acknowledged {
    /// A message with this key is stored.
    Key(String),
    /// A message with this body is stored.
    Body(Bytes),
    /// The message with this id (`SendResult::message_id`) is stored.
    MessageId(String),
}

impl fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "key {key}"),
            Self::Body(body) => write!(f, "body {:?}", String::from_utf8_lossy(body)),
            Self::MessageId(id) => write!(f, "message {id}"),
        }
    }
}

/// An acknowledgement, and what became of it. Its `Display` is one line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acknowledgement {
    /// What was acknowledged.
    pub what: Acknowledged,
    /// When it was first, since the world's beginning.
    pub at: Duration,
    /// When such a message was first stored; `None` when none ever was.
    pub stored_at: Option<Duration>,
}

impl Acknowledgement {
    /// Whether it was acknowledged and not stored by then, whatever came after.
    pub fn is_early(&self) -> bool {
        self.stored_at.is_none_or(|stored_at| stored_at > self.at)
    }
}

impl fmt::Display for Acknowledgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, acknowledged at {:?}, ", self.what, self.at)?;
        match self.stored_at {
            Some(stored_at) => write!(f, "stored at {stored_at:?}"),
            None => f.write_str("is not stored"),
        }
    }
}

#[derive(Default)]
pub(super) struct Ledger {
    acknowledged: BTreeMap<Acknowledged, Instant>,
    /// All names of all messages that were ever stored.
    stored: BTreeMap<Acknowledged, Instant>,
    /// How many messages of each broker were looked at.
    looked: Vec<u64>,
}

impl Ledger {
    pub(super) fn acknowledge(&mut self, now: Instant, what: Acknowledged) {
        self.acknowledged.entry(what).or_insert(now);
    }

    /// Looks at what the servers stored since the last look.
    pub(super) fn look(&mut self, network: &Network) {
        let (now, brokers) = (network.now(), network.cluster().brokers());
        self.looked.resize(brokers.len(), 0);
        for (broker, looked) in brokers.iter().zip(&mut self.looked) {
            for message in newest(broker, *looked) {
                for name in names(message) {
                    self.stored.entry(name).or_insert(now);
                }
            }
            *looked = broker.store().total();
        }
    }

    /// In the order of their times.
    pub(super) fn acknowledgements(&self) -> Vec<Acknowledgement> {
        let since = |at: Instant| at.saturating_since(Instant::ZERO);
        let all = self.acknowledged.iter().map(|(what, at)| {
            let stored_at = self.stored.get(what).map(|at| since(*at));
            Acknowledgement { what: what.clone(), at: since(*at), stored_at }
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|acknowledgement| acknowledgement.at);
        all
    }
}

fn newest(broker: &Broker, looked: u64) -> impl Iterator<Item = &StoredMessage> {
    let store = broker.store();
    let new = usize::try_from(store.total() - looked).unwrap_or(usize::MAX);
    store.iter().rev().take(new)
}

fn names(message: &StoredMessage) -> impl Iterator<Item = Acknowledged> {
    let keys = message.property(KEYS).unwrap_or_default().split(KEY_SEPARATOR);
    let keys = keys.filter(|key| !key.is_empty()).map(|key| Acknowledged::Key(key.to_owned()));
    let id = message.own_unique_key().map(|id| Acknowledged::MessageId(id.to_owned()));
    keys.chain(id).chain([Acknowledged::Body(message.plain_body())])
}
