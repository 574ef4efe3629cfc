//! What the handles and the loop have in common: the core, behind one lock.
//!
//! Whoever holds the lock runs the core and moves data, nothing else: no code of a user but the core's hooks, no waker, no
//! system call. A command goes into the core at once; there is no queue in between, so its limits are the core's own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use rmq_core::proto::message::MessageRules;
use rmq_core::proto::sign::Credentials;
use rmq_core::{
    Address, CheckToken, Client as Core, ConfigError, MessageQueue, OpId, ProducerConfig, ProducerId,
    Rejected,
};

use crate::discovery::{Fetched, NameServerSourceError};
use crate::error::Error;
use crate::listeners::{Checks, ListenerKey, Question};
use crate::logging;
use crate::operation::Submitted;
use crate::runtime::Clock;
use crate::stats::DriverStats;
use crate::waiters::{Key, Outcome, Waiters};

/// How the loop's task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// It runs, or will: it takes the lock once more before it sleeps.
    Awake,
    /// Only its waker brings it back.
    Asleep,
    /// It closed everything and ended.
    Ended,
    /// It was dropped by its runtime, or the core panicked.
    Lost,
}

/// Names one who waits for the end of the task.
pub(crate) type EndKey = u64;

pub(crate) struct State {
    pub(crate) core: Core,
    pub(crate) waiters: Waiters,
    pub(crate) checks: Checks,
    pub(crate) task: Task,
    pub(crate) waker: Option<Waker>,
    /// Who waits for the end of the task.
    pub(crate) end_wakers: BTreeMap<EndKey, Waker>,
    next_end_key: EndKey,
    pub(crate) stats: DriverStats,
    /// Why the last look for name servers brought none.
    pub(crate) source_error: Option<NameServerSourceError>,
}

impl State {
    /// The core, unless its task is lost: one that may have panicked is not used again.
    fn core(&mut self) -> Option<&mut Core> {
        if self.task == Task::Lost { None } else { Some(&mut self.core) }
    }

    /// Whom to wake, once unlocked, after a command: the loop, if it sleeps.
    fn wake_task(&mut self) -> Option<Waker> {
        if self.task != Task::Asleep {
            return None;
        }
        self.task = Task::Awake;
        self.stats.wakes += 1;
        self.waker.take()
    }
}

pub(crate) struct Shared {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    rules: MessageRules,
    client_id: Box<str>,
}

impl Shared {
    pub(crate) fn new(core: Core, clock: Arc<dyn Clock>) -> Self {
        let rules = core.message_rules().clone();
        let client_id = core.client_id().into();
        let state = State {
            core,
            waiters: Waiters::default(),
            checks: Checks::default(),
            task: Task::Awake,
            waker: None,
            end_wakers: BTreeMap::new(),
            next_end_key: 0,
            stats: DriverStats::default(),
            source_error: None,
        };
        Self { state: Mutex::new(state), clock, rules, client_id }
    }

    /// A core that panicked is not used again: the loop, woken here in spite of the lock, ends whatever waits.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = poisoned.into_inner();
            state.task = Task::Lost;
            state.waker.take().into_iter().for_each(Waker::wake);
            state
        })
    }

    pub(crate) fn rules(&self) -> &MessageRules {
        &self.rules
    }

    pub(crate) fn client_id(&self) -> &str {
        &self.client_id
    }

    /// Gives the core a command, then wakes the loop if it has to carry something out.
    fn command<T>(&self, command: impl FnOnce(&mut State, rmq_core::Instant) -> T) -> T {
        let now = self.clock.now();
        let mut state = self.lock();
        let result = command(&mut state, now);
        let waker = state.wake_task();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        result
    }

    pub(crate) fn add_producer(&self, config: ProducerConfig) -> Result<ProducerId, ConfigError> {
        self.command(|state, now| match state.core() {
            Some(core) => core.add_producer(now, config),
            None => Err(ConfigError::ShutDown),
        })
    }

    pub(crate) fn set_name_servers(&self, list: Vec<Address>) -> Result<bool, ConfigError> {
        let told = logging::List::of(&list);
        let changed = self.command(|state, now| match state.core() {
            Some(core) => core.set_name_servers(now, list),
            None => Err(ConfigError::ShutDown),
        });
        told.changed(self.client_id(), &changed);
        changed
    }

    /// Takes what a look for name servers brought. A list that is the same as the `last` one changes nothing, not even
    /// one that was set since.
    pub(crate) fn fetched(&self, fetched: Fetched, last: &mut Option<Vec<Address>>) {
        let checked = fetched.and_then(|list| match list.is_empty() {
            true => Err(NameServerSourceError::Empty),
            false => Ok(list),
        });
        let failure = match checked {
            Err(error) => Some(error),
            Ok(list) if last.as_ref() == Some(&list) => None,
            Ok(list) => {
                // One that is shut down has no use for it.
                let _ = self.set_name_servers(list.clone());
                *last = Some(list);
                None
            }
        };
        let mut state = self.lock();
        state.stats.fetches += 1;
        state.stats.failed_fetches += u64::from(failure.is_some());
        let before = std::mem::replace(&mut state.source_error, failure);
        drop(state);
        drop(before);
    }

    pub(crate) fn set_credentials(&self, credentials: Option<Credentials>) {
        let now = self.clock.now();
        if let Some(core) = self.lock().core() {
            core.set_credentials(now, credentials);
        }
    }

    pub(crate) fn now(&self) -> rmq_core::Instant {
        self.clock.now()
    }

    /// Gives the core a message, whose body is given beside it; with a waker, its sender waits for the outcome.
    pub(crate) fn submit<T>(
        &self,
        mut waker: Option<Waker>,
        body: Bytes,
        message: T,
        accept: impl FnOnce(&mut Core, rmq_core::Instant, T) -> Result<OpId, Rejected<T>>,
    ) -> Result<Submitted, Error> {
        // Of a rejected message, it and the waker come back, to be dropped without the lock.
        let (accepted, _given) = self.command(|state, now| {
            let Some(core) = state.core() else {
                // Nothing of it was sent, which a lost task's other sends cannot say.
                return (Err(Error::ShutDown), Some(message));
            };
            match accept(core, now, message) {
                Ok(op) => {
                    let key = waker.take().map(|waker| state.waiters.insert(op, waker));
                    if key.is_none() {
                        state.waiters.detach(op, body.clone());
                    }
                    (Ok((op, key)), None)
                }
                Err(rejected) => (Err(Error::rejected(rejected.reason)), Some(rejected.given)),
            }
        });
        let accepted = accepted.inspect_err(|error| logging::rejected(&self.client_id, error));
        accepted.map(|(op, key)| Submitted { op, key, body })
    }

    /// The queues of a topic, if they are known. Telling them is no work for the loop.
    pub(crate) fn known_queues(&self, topic: &str) -> Option<Arc<[MessageQueue]>> {
        let now = self.clock.now();
        self.lock().core().and_then(|core| core.publish_queues(now, topic))
    }

    /// Takes the outcome of an operation, or leaves the caller's waker.
    pub(crate) fn poll_outcome(&self, key: Key, cx: &Context<'_>) -> Poll<Outcome> {
        let mut state = self.lock();
        if let Some(outcome) = state.waiters.take(key) {
            return Poll::Ready(outcome);
        }
        if state.waiters.knows(key, cx.waker()) {
            return Poll::Pending;
        }
        drop(state);
        let waker = cx.waker().clone();
        let mut state = self.lock();
        let outcome = state.waiters.take(key);
        let replaced = if outcome.is_none() { state.waiters.replace(key, waker) } else { None };
        drop(state);
        drop(replaced);
        outcome.map_or(Poll::Pending, Poll::Ready)
    }

    /// Nobody waits for the operation any more, which is cancelled.
    pub(crate) fn cancel(&self, op: OpId, key: Key) {
        let left = self.command(|state, now| {
            if let Some(core) = state.core() {
                core.cancel(now, op);
            }
            state.waiters.leave(op, key)
        });
        drop(left);
    }

    /// Nobody waits for the operation any more, which runs on.
    pub(crate) fn detach(&self, op: OpId, key: Key, body: Bytes) {
        let mut state = self.lock();
        let (left, runs) = state.waiters.leave(op, key);
        let ended = if runs && state.task != Task::Lost {
            state.waiters.detach(op, body);
            None
        } else {
            Some(body)
        };
        drop(state);
        drop((left, ended));
    }

    /// The next question to a producer, or none when nothing comes any more.
    pub(crate) fn poll_check(
        &self,
        producer: ProducerId,
        key: ListenerKey,
        cx: &Context<'_>,
    ) -> Poll<Option<Question>> {
        let waker = cx.waker().clone();
        let mut guard = self.lock();
        let state = &mut *guard;
        if matches!(state.task, Task::Ended | Task::Lost) {
            return Poll::Ready(None);
        }
        if let Some(question) = state.checks.next(&state.core, producer) {
            return Poll::Ready(Some(question));
        }
        let replaced = state.checks.wait(producer, key, waker);
        drop(guard);
        drop(replaced);
        Poll::Pending
    }

    pub(crate) fn ignore_check(&self, token: CheckToken) {
        let now = self.clock.now();
        if let Some(core) = self.lock().core() {
            core.ignore_check(now, token);
        }
    }

    pub(crate) fn leave_checks(&self, producer: ProducerId, key: ListenerKey) {
        let now = self.clock.now();
        let mut guard = self.lock();
        let State { checks, core, task, .. } = &mut *guard;
        let core = Some(core).filter(|_| *task != Task::Lost);
        let left = checks.leave(core, now, producer, key);
        drop(guard);
        drop(left);
    }

    pub(crate) fn shut_down(&self, within: Duration) {
        self.command(|state, now| {
            if let Some(core) = state.core() {
                core.shutdown(now, within);
            }
        });
    }

    /// Waits until the loop has closed everything.
    pub(crate) fn poll_end(&self, key: &mut Option<EndKey>, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        let waker = cx.waker().clone();
        let mut state = self.lock();
        match state.task {
            Task::Ended => return Poll::Ready(Ok(())),
            Task::Lost => return Poll::Ready(Err(Error::TaskLost)),
            Task::Awake | Task::Asleep => {}
        }
        let key = *key.get_or_insert_with(|| {
            state.next_end_key += 1;
            state.next_end_key
        });
        let replaced = state.end_wakers.insert(key, waker);
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Nobody waits under this key any more.
    pub(crate) fn leave_end(&self, key: EndKey) {
        let left = self.lock().end_wakers.remove(&key);
        drop(left);
    }
}

/// Held by each handle: when the last one goes, so does the client.
pub(crate) struct Owner {
    shared: Arc<Shared>,
}

impl Owner {
    pub(crate) fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self { shared })
    }
}

impl std::ops::Deref for Owner {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        logging::dropped(&self.shared);
        self.shared.shut_down(Duration::ZERO);
    }
}
