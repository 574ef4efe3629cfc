//! A runtime made by hand: its time stands still until a test moves it, its tasks run when a test says so, and its
//! streams lead to a scripted peer.

mod peer;
mod pipe;
mod route;

pub(crate) use peer::{BROKER, NAME_SERVER, Peer, Seen, Wire, half_message};
pub(crate) use pipe::{Pipe, Pipes};

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use rmq_driver::rmq_core::{Address, Identity, Instant};
use rmq_driver::{Client, ClientBuilder, Runtime, SpawnError};

type Task = (Pin<Box<dyn Future<Output = ()> + Send>>, Arc<Flag>);

/// Woken or not, and how often.
#[derive(Default)]
pub(crate) struct Flag {
    woken: AtomicBool,
    pub(crate) wakes: AtomicUsize,
}

impl Flag {
    fn take(&self) -> bool {
        self.woken.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn wakes(&self) -> usize {
        self.wakes.load(Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.woken.store(true, Ordering::Relaxed);
    }
}

/// The runtime. Clones are the same one.
#[derive(Clone, Default)]
pub(crate) struct World {
    state: Arc<Mutex<State>>,
    pub(crate) pipes: Pipes,
}

struct State {
    now: u64,
    unix_ms: u64,
    timers: Vec<(u64, Waker)>,
    tasks: Vec<Task>,
    refuses_tasks: bool,
    seeds: u64,
}

impl Default for State {
    fn default() -> Self {
        let (now, unix_ms) = (1_000_000, 1_700_000_000_000);
        Self { now, unix_ms, timers: Vec::new(), tasks: Vec::new(), refuses_tasks: false, seeds: 0 }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn builder(&self) -> ClientBuilder<Self> {
        // Peers look at bodies as they were written.
        Client::<Self>::builder().name_server(NAME_SERVER).compression(None)
    }

    pub(crate) fn client(&self) -> Client<Self> {
        self.builder().start_on(self.clone()).unwrap()
    }

    pub(crate) fn refuse_tasks(&self) {
        self.lock().refuses_tasks = true;
    }

    /// Drops all tasks, as a runtime does at its end.
    pub(crate) fn drop_tasks(&self) {
        let tasks = std::mem::take(&mut self.lock().tasks);
        drop(tasks);
    }

    pub(crate) fn tasks(&self) -> usize {
        self.lock().tasks.len()
    }

    /// Polls woken tasks until none is woken.
    pub(crate) fn run(&self) {
        for _ in 0..100_000 {
            if !self.run_once() {
                return;
            }
        }
        panic!("the tasks never come to rest");
    }

    /// Polls each woken task once; false when none is woken.
    pub(crate) fn run_once(&self) -> bool {
        let mut tasks = std::mem::take(&mut self.lock().tasks);
        let mut progress = false;
        tasks.retain_mut(|(task, flag)| {
            if !flag.take() {
                return true;
            }
            progress = true;
            let waker = Waker::from(Arc::clone(flag));
            task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
        });
        let mut state = self.lock();
        tasks.append(&mut state.tasks);
        state.tasks = tasks;
        progress
    }

    /// Lets time pass without running anything.
    pub(crate) fn pass(&self, time: Duration) {
        let mut state = self.lock();
        state.now += time.as_micros() as u64;
        state.unix_ms += time.as_millis() as u64;
        let now = state.now;
        let due = state.timers.extract_if(.., |(at, _)| *at <= now);
        let wakers: Vec<_> = due.map(|(_, waker)| waker).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn set_wall_clock(&self, unix_ms: u64) {
        self.lock().unix_ms = unix_ms;
    }
}

impl Runtime for World {
    type Stream = Pipe;
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        Instant::from_micros(self.lock().now)
    }

    fn unix_ms(&self) -> u64 {
        self.lock().unix_ms
    }

    fn seed(&self) -> u64 {
        let mut state = self.lock();
        state.seeds += 1;
        state.seeds
    }

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<Pipe>> + Send + 'static {
        self.pipes.connect(address.to_string())
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        Sleep { world: self.clone(), at: at.as_micros() }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        let mut state = self.lock();
        if state.refuses_tasks {
            drop(state);
            return Err(SpawnError::new("no runtime here"));
        }
        let flag = Arc::new(Flag { woken: true.into(), ..Flag::default() });
        state.tasks.push((Box::pin(task), flag));
        Ok(())
    }

    fn identity(&self, _: Option<IpAddr>) -> Identity {
        Identity { ip: [10, 0, 0, 1].into(), pid: 4711 }
    }
}

pub(crate) struct Sleep {
    world: World,
    at: u64,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.world.lock();
        if self.at <= state.now {
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        if !state.timers.iter().any(|(at, known)| *at == self.at && known.will_wake(&waker)) {
            state.timers.push((self.at, waker));
        }
        Poll::Pending
    }
}

/// A future that is polled by hand.
pub(crate) struct Hand<F> {
    future: Pin<Box<F>>,
    pub(crate) flag: Arc<Flag>,
}

impl<F: Future> Hand<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future: Box::pin(future), flag: Arc::default() }
    }

    pub(crate) fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.flag));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Polled once, and not at its end.
    pub(crate) fn begun(future: F) -> Self
    where
        F::Output: std::fmt::Debug,
    {
        let mut hand = Self::new(future);
        let polled = hand.poll();
        assert!(polled.is_pending(), "ended at its first poll: {polled:?}");
        hand
    }

    pub(crate) fn into_inner(self) -> F
    where
        F: Unpin,
    {
        *Pin::into_inner(self.future)
    }

    pub(crate) fn output(&mut self) -> F::Output {
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("still pending"),
        }
    }
}
