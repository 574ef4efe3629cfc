//! An executor: one thread that runs tasks, wakes them at their times, and has those look again that wait for a socket.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// How long tasks that wait for a socket are left alone.
const TICK: Duration = Duration::from_millis(1);

/// A handle; clones are the same executor. Its thread runs as long as there are tasks.
#[derive(Clone, Default)]
pub(crate) struct Executor(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Arc<Task>>,
    /// How many have not ended.
    tasks: usize,
    has_thread: bool,
    timers: BTreeMap<(Instant, u64), Waker>,
    next_timer: u64,
    /// Who waits for a socket, and when they are to look again.
    waiting: Vec<Waker>,
    tick: Option<Instant>,
}

struct Task {
    executor: Executor,
    /// None when it has ended.
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    is_ready: AtomicBool,
}

impl Executor {
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let mut state = lock(&self.0.state);
        if !state.has_thread {
            let executor = self.clone();
            thread::Builder::new().name("own-runtime".to_owned()).spawn(move || executor.run())?;
            state.has_thread = true;
        }
        state.tasks += 1;
        drop(state);
        let future = Mutex::new(Some(Box::pin(future) as Pin<Box<_>>));
        Arc::new(Task { executor: self.clone(), future, is_ready: AtomicBool::new(false) }).wake();
        Ok(())
    }

    pub(crate) fn sleep_until(&self, at: Instant) -> Sleep {
        Sleep { executor: self.clone(), at, key: None }
    }

    /// Has a task look again at the next tick.
    pub(crate) fn wake_at_tick(&self, waker: &Waker) {
        let mut state = lock(&self.0.state);
        if !state.waiting.iter().any(|other| other.will_wake(waker)) {
            state.waiting.push(waker.clone());
        }
        state.tick.get_or_insert_with(|| Instant::now() + TICK);
    }

    fn run(&self) {
        while let Some(task) = self.next() {
            // Before it is polled: what wakes it from now on is news.
            task.is_ready.store(false, Ordering::Release);
            let waker = Waker::from(Arc::clone(&task));
            let mut future = lock(&task.future);
            let Some(running) = &mut *future else { continue };
            let poll = || running.as_mut().poll(&mut Context::from_waker(&waker));
            // A task that panics ends, and no other one with it.
            if catch_unwind(AssertUnwindSafe(poll)).is_ok_and(|polled| polled.is_pending()) {
                continue;
            }
            *future = None;
            lock(&self.0.state).tasks -= 1;
        }
    }

    /// The next task to be polled, when there is one; none when all have ended.
    fn next(&self) -> Option<Arc<Task>> {
        let mut state = lock(&self.0.state);
        loop {
            let due = state.due(Instant::now());
            if !due.is_empty() {
                // Waking takes the lock.
                drop(state);
                due.into_iter().for_each(Waker::wake);
                state = lock(&self.0.state);
            } else if let Some(task) = state.ready.pop_front() {
                return Some(task);
            } else if state.tasks == 0 {
                state.has_thread = false;
                return None;
            } else {
                let first = state.timers.keys().next().map(|&(at, _)| at);
                // A runtime of yours waits for its sockets here, too.
                state = match first.into_iter().chain(state.tick).min() {
                    Some(until) => {
                        let left = until.saturating_duration_since(Instant::now());
                        self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                };
            }
        }
    }
}

impl State {
    /// Takes out whom to wake at this time.
    fn due(&mut self, now: Instant) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some(timer) = self.timers.first_entry().filter(|timer| timer.key().0 <= now) {
            due.push(timer.remove());
        }
        if self.tick.is_some_and(|tick| tick <= now) {
            self.tick = None;
            due.append(&mut self.waiting);
        }
        due
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if !self.is_ready.swap(true, Ordering::AcqRel) {
            let shared = Arc::clone(&self.executor.0);
            lock(&shared.state).ready.push_back(self);
            shared.changed.notify_one();
        }
    }
}

/// A timer. It is the executor's as long as this is there.
pub(crate) struct Sleep {
    executor: Executor,
    at: Instant,
    key: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.at {
            return Poll::Ready(());
        }
        let executor = self.executor.clone();
        let mut state = lock(&executor.0.state);
        let key = *self.key.get_or_insert_with(|| {
            state.next_timer += 1;
            state.next_timer
        });
        state.timers.insert((self.at, key), cx.waker().clone());
        drop(state);
        // The thread waits for what it knew of.
        executor.0.changed.notify_one();
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            lock(&self.executor.0.state).timers.remove(&(self.at, key));
        }
    }
}

/// Does what blocks on a thread of its own, and is told of the end.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let end = Arc::new(Mutex::new((None, None::<Waker>)));
    let told = Arc::clone(&end);
    thread::Builder::new().spawn(move || {
        let done = work();
        let mut end = lock(&told);
        end.0 = Some(done);
        let waker = end.1.take();
        drop(end);
        waker.into_iter().for_each(Waker::wake);
    })?;
    poll_fn(|cx| {
        let mut end = lock(&end);
        end.1 = Some(cx.waker().clone());
        end.0.take().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
