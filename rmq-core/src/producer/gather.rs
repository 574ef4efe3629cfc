//! Messages that wait for others to go out with in one batch (producer §10.6).
//!
//! | state   | leaves on                                           | to                                  |
//! |---------|-----------------------------------------------------|-------------------------------------|
//! | (none)  | a message that no group is open for                 | Open, its timer armed               |
//! | Open    | another message                                     | Open                                |
//! | Open    | more bytes than enough, its timer, shutdown, or a message that does not fit | gone: one send, or an automatic batch |
//! | Open    | its last message ended (cancel, deadline)           | gone                                |
//!
//! The bytes of a message count from when it is gathered to when it leaves its group, by whichever way.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rmq_proto::message::Prepared;
use rmq_proto::properties;

use super::{SendOp, Target};
use crate::deadlines::Armed;
use crate::event::{OpId, ProducerId};
use crate::slab::{Id, Slab};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId(pub(crate) Id);

/// What the messages of one batch have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupKey {
    pub(crate) producer: ProducerId,
    topic: Arc<str>,
    queue: Option<(Arc<str>, i32)>,
    pub(crate) wait_store_ok: bool,
    tag: Option<String>,
}

impl GroupKey {
    pub(crate) fn new(producer: ProducerId, message: &Prepared, target: &Target) -> Self {
        let value = |name| properties::value(message.properties(), name);
        let queue = match target {
            Target::Queue(choice) => Some((choice.broker.clone(), choice.queue_id)),
            Target::Topic | Target::Queues | Target::Recall(_) => None,
        };
        Self {
            producer,
            topic: message.shared_topic(),
            queue,
            wait_store_ok: value(properties::WAIT) != Some("false"),
            tag: value(properties::TAGS).map(Into::into),
        }
    }
}

/// A message that waits.
#[derive(Clone, Copy, Debug)]
struct Member {
    op: OpId,
    body_len: usize,
    element_len: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) key: GroupKey,
    /// When it goes out.
    pub(crate) timer: Option<Armed>,
    /// In the order of their coming.
    members: BTreeMap<u64, Member>,
    body_bytes: usize,
    encoded_bytes: usize,
}

impl Group {
    /// Bytes of all bodies.
    pub(crate) fn body_bytes(&self) -> usize {
        self.body_bytes
    }

    /// Bytes of the batch that it would be.
    pub(crate) fn encoded_bytes(&self) -> usize {
        self.encoded_bytes
    }

    pub(crate) fn ops(&self) -> Vec<OpId> {
        self.members.values().map(|member| member.op).collect()
    }
}

/// Bytes that a message has in a batch.
pub(crate) fn element_len(send: &SendOp) -> usize {
    send.element_head().encoded_len()
}

/// All groups of all producers.
#[derive(Clone, Debug)]
pub(crate) struct Gathering {
    groups: Slab<Group>,
    open: BTreeMap<GroupKey, GroupId>,
    /// Bytes of bodies that wait, by producer.
    held: BTreeMap<ProducerId, usize>,
    messages: usize,
    places: u64,
    /// Automatic batches under way.
    pub(crate) batches: usize,
}

impl Gathering {
    pub(crate) const fn new() -> Self {
        Self {
            groups: Slab::new(),
            open: BTreeMap::new(),
            held: BTreeMap::new(),
            messages: 0,
            places: 0,
            batches: 0,
        }
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Messages that wait.
    pub(crate) fn messages(&self) -> usize {
        self.messages
    }

    /// Bytes of the bodies that wait, of all producers.
    pub(crate) fn bytes(&self) -> usize {
        self.held.values().sum()
    }

    pub(crate) fn held_by(&self, producer: ProducerId) -> usize {
        self.held.get(&producer).copied().unwrap_or(0)
    }

    pub(crate) fn ids(&self) -> Vec<GroupId> {
        self.groups.ids().into_iter().map(GroupId).collect()
    }

    pub(crate) fn find(&self, key: &GroupKey) -> Option<GroupId> {
        self.open.get(key).copied()
    }

    pub(crate) fn get(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(id.0)
    }

    pub(crate) fn get_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        self.groups.get_mut(id.0)
    }

    /// A group without messages; there must be none of this key.
    pub(crate) fn begin(&mut self, key: GroupKey) -> GroupId {
        let group = Group {
            key: key.clone(),
            timer: None,
            members: BTreeMap::new(),
            body_bytes: 0,
            encoded_bytes: 0,
        };
        let id = GroupId(self.groups.insert(group));
        self.open.insert(key, id);
        id
    }

    /// Puts a message into a group; gives its place.
    pub(crate) fn join(&mut self, id: GroupId, op: OpId, body_len: usize, element_len: usize) -> u64 {
        let place = self.places;
        if let Some(group) = self.groups.get_mut(id.0) {
            self.places += 1;
            group.members.insert(place, Member { op, body_len, element_len });
            group.body_bytes += body_len;
            group.encoded_bytes += element_len;
            *self.held.entry(group.key.producer).or_default() += body_len;
            self.messages += 1;
        }
        place
    }

    /// Takes one message out. The group, if that was its last.
    pub(crate) fn leave(&mut self, id: GroupId, place: u64) -> Option<Group> {
        let group = self.groups.get_mut(id.0)?;
        let member = group.members.remove(&place)?;
        group.body_bytes -= member.body_len;
        group.encoded_bytes -= member.element_len;
        let (producer, is_empty) = (group.key.producer, group.members.is_empty());
        self.give_back(producer, member.body_len, 1);
        if is_empty { self.take(id) } else { None }
    }

    /// Closes a group: its messages go out.
    pub(crate) fn take(&mut self, id: GroupId) -> Option<Group> {
        let group = self.groups.remove(id.0)?;
        self.open.remove(&group.key);
        self.give_back(group.key.producer, group.body_bytes, group.members.len());
        Some(group)
    }

    fn give_back(&mut self, producer: ProducerId, bytes: usize, messages: usize) {
        self.messages -= messages;
        if let Some(held) = self.held.get_mut(&producer) {
            *held -= bytes;
            if *held == 0 {
                self.held.remove(&producer);
            }
        }
    }
}
