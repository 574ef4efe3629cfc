//! Tasks in the order they were woken, and a clock that jumps to what comes next when none is.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use rmq_core::Instant;

use super::{Shared, World};

pub(super) type TaskFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The number of the body of a run; spawned tasks have those after it.
const BODY: u64 = 0;

/// Polls without any time passing after which tasks are taken to wake each other for ever.
const MAX_POLLS: u64 = 1_000_000;

pub(super) struct Executor {
    runs: bool,
    tasks: BTreeMap<u64, Task>,
    ready: VecDeque<u64>,
    timers: BTreeMap<(Instant, u64), Waker>,
    serial: u64,
}

struct Task {
    /// Not here while it is polled, and never the body's.
    future: Option<TaskFuture>,
    is_ready: bool,
    name: TaskName,
}

/// What a task is called in a [`Failure`].
#[derive(Clone, Copy)]
pub(super) enum TaskName {
    Body(&'static Location<'static>),
    Spawned(&'static Location<'static>),
    Client,
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(place) => write!(f, "the run at {place}"),
            Self::Spawned(place) => write!(f, "the task spawned at {place}"),
            Self::Client => f.write_str("a client"),
        }
    }
}

impl Executor {
    pub(super) const fn new() -> Self {
        Self {
            runs: false,
            tasks: BTreeMap::new(),
            ready: VecDeque::new(),
            timers: BTreeMap::new(),
            serial: BODY,
        }
    }

    const fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    pub(super) fn spawn(&mut self, future: TaskFuture, name: TaskName) -> u64 {
        let number = self.next_serial();
        self.add(number, Some(future), name);
        number
    }

    fn add(&mut self, number: u64, future: Option<TaskFuture>, name: TaskName) {
        self.tasks.insert(number, Task { future, is_ready: false, name });
        self.wake(number);
    }

    fn wake(&mut self, number: u64) {
        if let Some(task) = self.tasks.get_mut(&number).filter(|task| !task.is_ready) {
            task.is_ready = true;
            self.ready.push_back(number);
        }
    }

    /// Forgets a task. What it was is to be dropped without the lock.
    pub(super) fn remove(&mut self, number: u64) -> Option<TaskFuture> {
        self.tasks.remove(&number)?.future
    }

    /// The next task that was woken, if there is one; its future, unless it is the body.
    fn next(&mut self) -> Option<(u64, Option<TaskFuture>)> {
        while let Some(number) = self.ready.pop_front() {
            if let Some(task) = self.tasks.get_mut(&number) {
                task.is_ready = false;
                return Some((number, task.future.take()));
            }
        }
        None
    }

    /// Sets a timer, or sets it anew. Returns its number, and a waker to be dropped without the lock.
    pub(super) fn set(&mut self, at: Instant, timer: Option<u64>, waker: &Waker) -> (u64, Option<Waker>) {
        let timer = timer.unwrap_or_else(|| self.next_serial());
        (timer, self.timers.insert((at, timer), waker.clone()))
    }

    pub(super) fn unset(&mut self, at: Instant, timer: u64) -> Option<Waker> {
        self.timers.remove(&(at, timer))
    }

    /// Takes the timers that go off.
    pub(super) fn due(&mut self, now: Instant) -> impl Iterator<Item = Waker> {
        let later = match now.as_micros().checked_add(1) {
            Some(next) => self.timers.split_off(&(Instant::from_micros(next), 0)),
            None => BTreeMap::new(),
        };
        std::mem::replace(&mut self.timers, later).into_values()
    }
}

struct TaskWaker {
    shared: Weak<Shared>,
    number: u64,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.lock().executor.wake(self.number);
        }
    }
}

/// Why a run was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// Nothing is ready, no timer is set and no connection is open: nothing can ever happen.
    Deadlock,
    /// It took more virtual time than the world allows.
    TimeLimit,
    /// Its tasks wake each other without end, and no time passes.
    Busy,
}

/// A run that did not end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Failure {
    /// What is wrong.
    pub kind: FailureKind,
    /// The world's seed.
    pub seed: u64,
    /// Virtual time since the world's beginning.
    pub time: Duration,
    /// The tasks that had not ended, by the places where they were spawned; the body of the run first.
    pub tasks: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, seed, time, tasks } = self;
        let what = match kind {
            FailureKind::Deadlock => {
                "deadlock: nothing is ready, and no timer or connection is left to wait for"
            }
            FailureKind::TimeLimit => "the limit of virtual time is over",
            FailureKind::Busy => "tasks wake each other without end, and no time passes",
        };
        write!(f, "seed {seed}, at {time:?}: {what}; not ended: {}", tasks.join(", "))
    }
}

/// A run. Its end drops all tasks.
pub(super) struct Running<'a>(&'a World);

impl<'a> Running<'a> {
    pub(super) fn begin(world: &'a World, caller: &'static Location<'static>) -> Self {
        assert!(world.shared.clock.get().is_none(), "this world is under the clock of another runtime");
        let is_free = world.with(|state, _| {
            let is_free = !std::mem::replace(&mut state.executor.runs, true);
            if is_free {
                state.executor.add(BODY, None, TaskName::Body(caller));
            }
            is_free
        });
        assert!(is_free, "this world runs already: start tasks in it with Sim::spawn");
        Self(world)
    }

    pub(super) fn drive<T>(&self, body: impl Future<Output = T>) -> Result<T, Failure> {
        let mut body = pin!(body);
        let limit = self.0.now() + self.0.time_limit();
        let mut polls = 0;
        loop {
            while let Some((number, future)) = self.0.with(|state, _| state.executor.next()) {
                polls += 1;
                if polls > MAX_POLLS {
                    return Err(self.failure(FailureKind::Busy));
                }
                let waker =
                    Waker::from(Arc::new(TaskWaker { shared: Arc::downgrade(&self.0.shared), number }));
                let cx = &mut Context::from_waker(&waker);
                if let Some(future) = future {
                    self.poll(number, future, cx);
                } else if let Poll::Ready(value) = body.as_mut().poll(cx) {
                    return Ok(value);
                }
            }
            if self.advance(limit)? {
                polls = 0;
            }
        }
    }

    fn poll(&self, number: u64, mut future: TaskFuture, cx: &mut Context<'_>) {
        if future.as_mut().poll(cx).is_ready() {
            let empty = self.0.with(|state, _| state.executor.remove(number));
            debug_assert!(empty.is_none(), "its future was taken out");
            return;
        }
        // One that was aborted meanwhile is dropped here.
        let mut future = Some(future);
        self.0.with(|state, _| {
            if let Some(task) = state.executor.tasks.get_mut(&number) {
                task.future = future.take();
            }
        });
    }

    /// Lets time pass until something happens; true when any passed.
    fn advance(&self, limit: Instant) -> Result<bool, Failure> {
        let passed = self.0.with(|state, now| {
            let timer = state.executor.timers.first_key_value().map(|((at, _), _)| *at);
            if timer.is_none() && state.sockets.is_empty() {
                return Err(FailureKind::Deadlock);
            }
            let next = timer.into_iter().chain(state.network.poll_timeout()).min().unwrap_or(now).max(now);
            if next > limit {
                return Err(FailureKind::TimeLimit);
            }
            state.advance(next);
            Ok(next > now)
        });
        passed.map_err(|kind| self.failure(kind))
    }

    fn failure(&self, kind: FailureKind) -> Failure {
        let name = |task: &Task| task.name.to_string();
        let tasks = self.0.with(|state, _| state.executor.tasks.values().map(name).collect());
        Failure { kind, seed: self.0.seed(), time: self.0.elapsed(), tasks }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        loop {
            // What is dropped may start tasks.
            let tasks = self.0.with(|state, _| {
                state.executor.ready.clear();
                std::mem::take(&mut state.executor.tasks)
            });
            if tasks.is_empty() {
                break;
            }
            drop(tasks);
        }
        self.0.with(|state, _| state.executor.runs = false);
    }
}
