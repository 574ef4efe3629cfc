//! Brokers' questions about transactions on their way from the core to those who answer them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::Waker;

use rmq_core::proto::message::StoredMessage;
use rmq_core::{CheckToken, Client as Core, Instant, ProducerId, Resolution};

/// Names one handle that listens.
pub(crate) type ListenerKey = u64;

/// One question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) token: CheckToken,
    pub(crate) message: StoredMessage,
}

/// The handles of one producer, which share its questions.
#[derive(Debug, Default)]
struct Listeners {
    handles: usize,
    /// Not more than the core's [limit](rmq_core::Limits::checks): what is over leaves when more comes.
    questions: VecDeque<Question>,
    wakers: BTreeMap<ListenerKey, Waker>,
}

#[derive(Debug, Default)]
pub(crate) struct Checks {
    by_producer: BTreeMap<ProducerId, Listeners>,
    /// Messages whose local work runs in a task of this client.
    working: BTreeSet<String>,
    next_key: ListenerKey,
}

impl Checks {
    pub(crate) fn work_begins(&mut self, message_id: String) {
        self.working.insert(message_id);
    }

    pub(crate) fn work_ended(&mut self, message_id: &str) {
        self.working.remove(message_id);
    }

    pub(crate) fn listen(&mut self, producer: ProducerId) -> ListenerKey {
        self.by_producer.entry(producer).or_default().handles += 1;
        self.next_key += 1;
        self.next_key
    }

    /// A handle goes; with the last one, so do the questions. Its waker is to be dropped without the lock.
    pub(crate) fn leave(
        &mut self,
        core: Option<&mut Core>,
        now: Instant,
        producer: ProducerId,
        key: ListenerKey,
    ) -> Option<Waker> {
        let listeners = self.by_producer.get_mut(&producer)?;
        let waker = listeners.wakers.remove(&key);
        listeners.handles -= 1;
        if listeners.handles == 0
            && let Some(left) = self.by_producer.remove(&producer)
            && let Some(core) = core
        {
            left.questions.iter().for_each(|question| core.ignore_check(now, question.token));
        }
        waker
    }

    /// Takes a question in; false when nobody listens, and it is let go. The local work of a message that still runs is
    /// not asked about.
    pub(crate) fn ask(
        &mut self,
        core: &mut Core,
        now: Instant,
        producer: ProducerId,
        question: Question,
        wakers: &mut Vec<Waker>,
    ) -> bool {
        if self.working.contains(&*question.message.message_id()) {
            // Without room for the answer, the broker asks again.
            if core.answer_check(now, question.token, Resolution::Unknown, None).is_err() {
                core.ignore_check(now, question.token);
            }
            return true;
        }
        let Some(listeners) = self.by_producer.get_mut(&producer) else {
            core.ignore_check(now, question.token);
            return false;
        };
        while listeners.questions.front().is_some_and(|oldest| !core.is_check_open(oldest.token)) {
            listeners.questions.pop_front();
        }
        listeners.questions.push_back(question);
        wakers.extend(std::mem::take(&mut listeners.wakers).into_values());
        true
    }

    /// The next question that can be answered yet.
    pub(crate) fn next(&mut self, core: &Core, producer: ProducerId) -> Option<Question> {
        let questions = &mut self.by_producer.get_mut(&producer)?.questions;
        std::iter::from_fn(|| questions.pop_front()).find(|question| core.is_check_open(question.token))
    }

    /// Leaves a waker; one that has to be dropped without the lock comes back.
    pub(crate) fn wait(&mut self, producer: ProducerId, key: ListenerKey, waker: Waker) -> Option<Waker> {
        match self.by_producer.get_mut(&producer) {
            Some(listeners) => listeners.wakers.insert(key, waker),
            None => Some(waker),
        }
    }

    /// All who wait, as nothing will come any more.
    pub(crate) fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        for listeners in self.by_producer.values_mut() {
            listeners.questions.clear();
            wakers.extend(std::mem::take(&mut listeners.wakers).into_values());
        }
    }
}
