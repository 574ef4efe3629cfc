//! Who waits for which operation, and what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;

use bytes::Bytes;
use rmq_core::{
    EndTransactionError, Event, MessageQueue, NoReplyError, OpId, RecallError, Replied, SendBackError,
    SendError, SendResult, SentBack,
};

/// How an operation ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Sent(SendResult),
    OnewayWritten,
    Found(Arc<[MessageQueue]>),
    Failed(SendError),
    SentBack(SentBack),
    BackFailed(SendBackError),
    Recalled(String),
    RecallFailed(RecallError),
    TransactionEnded,
    EndFailed(EndTransactionError),
    Replied(Box<Replied>),
    NoReply(NoReplyError),
    /// The core cannot be asked any more.
    Lost,
}

/// Names one waiter until its outcome is taken or it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(u32);

#[derive(Debug)]
enum Entry {
    Free,
    Waiting(Waker),
    Ended(Outcome),
}

/// One entry per future that waits, found by the future through its key and by events through the operation.
///
/// An outcome stays here until its future is polled. By then the core may have given the operation's index away: keys
/// are therefore our own.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    entries: Vec<Entry>,
    free: Vec<Key>,
    /// By [`OpId::index`].
    by_index: Vec<Option<(OpId, Key)>>,
    /// Bodies of the operations that run on with nobody waiting. The core's drop of a body must never be the last: it
    /// happens under the lock, and what a body's owner does then is a user's code. Other bodies are kept by their futures.
    detached: BTreeMap<OpId, Bytes>,
    /// Operations that ended within the core, but whose event was not polled before their index was used anew.
    overtaken: BTreeMap<OpId, Key>,
}

impl Waiters {
    pub(crate) fn insert(&mut self, op: OpId, waker: Waker) -> Key {
        let entry = Entry::Waiting(waker);
        let key = match self.free.pop() {
            Some(key) => {
                self.entries[key.0 as usize] = entry;
                key
            }
            None => {
                self.entries.push(entry);
                Key(self.entries.len() as u32 - 1)
            }
        };
        let index = op.index();
        if self.by_index.len() <= index {
            self.by_index.resize(index + 1, None);
        }
        if let Some((earlier, key)) = self.by_index[index].replace((op, key)) {
            self.overtaken.insert(earlier, key);
        }
        key
    }

    fn find(&mut self, op: OpId) -> Option<Key> {
        match self.by_index.get_mut(op.index()) {
            Some(slot) if slot.is_some_and(|(of, _)| of == op) => slot.take().map(|(_, key)| key),
            _ => self.overtaken.remove(&op),
        }
    }

    /// Takes note of an event. True when it ends an operation, whether anybody waits for it or not.
    pub(crate) fn event(&mut self, event: Event, wakers: &mut Vec<Waker>, bodies: &mut Vec<Bytes>) -> bool {
        let (op, outcome) = match event {
            Event::Sent { op, result } => (op, Outcome::Sent(result)),
            Event::OnewayWritten { op } => (op, Outcome::OnewayWritten),
            Event::QueuesFound { op, queues } => (op, Outcome::Found(queues)),
            Event::SendFailed { op, error } => (op, Outcome::Failed(error)),
            Event::SentBack { op, how } => (op, Outcome::SentBack(how)),
            Event::SendBackFailed { op, error } => (op, Outcome::BackFailed(error)),
            Event::Recalled { op, message_id } => (op, Outcome::Recalled(message_id)),
            Event::RecallFailed { op, error } => (op, Outcome::RecallFailed(error)),
            Event::TransactionEnded { op } => (op, Outcome::TransactionEnded),
            Event::EndTransactionFailed { op, error } => (op, Outcome::EndFailed(error)),
            Event::Replied { op, reply } => (op, Outcome::Replied(reply)),
            Event::RequestFailed { op, error } => (op, Outcome::NoReply(error)),
            Event::Cancelled { op } => (op, Outcome::Lost),
            _ => return false,
        };
        bodies.extend(self.detached.remove(&op));
        if let Some(key) = self.find(op) {
            wakers.extend(self.end(key, outcome));
        }
        true
    }

    fn end(&mut self, key: Key, outcome: Outcome) -> Option<Waker> {
        match std::mem::replace(&mut self.entries[key.0 as usize], Entry::Ended(outcome)) {
            Entry::Waiting(waker) => Some(waker),
            Entry::Free | Entry::Ended(_) => None,
        }
    }

    /// Ends all that wait, without the core.
    pub(crate) fn lose_all(&mut self, wakers: &mut Vec<Waker>, bodies: &mut Vec<Bytes>) {
        bodies.extend(std::mem::take(&mut self.detached).into_values());
        for entry in &mut self.entries {
            if matches!(entry, Entry::Waiting(_))
                && let Entry::Waiting(waker) = std::mem::replace(entry, Entry::Ended(Outcome::Lost))
            {
                wakers.push(waker);
            }
        }
        self.by_index.clear();
        self.overtaken.clear();
    }

    /// Whether `waker` is the one that will be woken.
    pub(crate) fn knows(&self, key: Key, waker: &Waker) -> bool {
        match &self.entries[key.0 as usize] {
            Entry::Waiting(known) => known.will_wake(waker),
            Entry::Free | Entry::Ended(_) => false,
        }
    }

    /// The outcome, once it is there; the key is then used up.
    pub(crate) fn take(&mut self, key: Key) -> Option<Outcome> {
        let entry = &mut self.entries[key.0 as usize];
        if !matches!(entry, Entry::Ended(_)) {
            return None;
        }
        self.free.push(key);
        match std::mem::replace(entry, Entry::Free) {
            Entry::Ended(outcome) => Some(outcome),
            Entry::Free | Entry::Waiting(_) => None,
        }
    }

    /// Puts a waker in the place of the one there, which is returned: dropping it is its owner's code.
    pub(crate) fn replace(&mut self, key: Key, waker: Waker) -> Option<Waker> {
        match &mut self.entries[key.0 as usize] {
            Entry::Waiting(known) => Some(std::mem::replace(known, waker)),
            Entry::Free | Entry::Ended(_) => Some(waker),
        }
    }

    /// `op` runs on with nobody waiting.
    pub(crate) fn detach(&mut self, op: OpId, body: Bytes) {
        self.detached.insert(op, body);
    }

    /// Nobody waits for `op` any more. What was there is returned, to be dropped elsewhere; and whether it had not ended.
    pub(crate) fn leave(&mut self, op: OpId, key: Key) -> (impl Sized + use<>, bool) {
        let runs = self.find(op).is_some();
        self.free.push(key);
        (std::mem::replace(&mut self.entries[key.0 as usize], Entry::Free), runs)
    }
}
