//! The runtime of a world: tasks, timers and connections, all in virtual time.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rmq_core::{Address, Identity, Instant};
use rmq_driver::{Client, ClientBuilder, Runtime, SpawnError};

use super::executor::TaskName;
use super::{Host, SimStream, World};

/// A client in a world.
pub type SimClient = Client<Sim>;

/// The runtime of a [`World`]: one thread, tasks in the order they were woken, and a clock that stands still while any is
/// ready and then jumps to the next timer or the next thing on the network. Sleeping takes no real time.
///
/// A clone is the same runtime; a client that is started on it is a process of its own to the network.
///
/// A task that panics ends the run: the panic goes on to whoever called [`World::run`].
#[derive(Clone, Debug)]
pub struct Sim {
    host: Host,
}

impl Sim {
    pub(super) const fn new(host: Host) -> Self {
        Self { host }
    }

    /// The world.
    pub const fn world(&self) -> &World {
        self.host.world()
    }

    /// Virtual time since the world's beginning.
    pub fn elapsed(&self) -> Duration {
        self.world().elapsed()
    }

    /// A builder of clients that know the world's name servers; to be ended with `start_on(sim.clone())`.
    pub fn builder(&self) -> ClientBuilder<Self> {
        Client::builder().name_server(self.world().name_servers())
    }

    /// Starts a client with the defaults.
    pub fn client(&self) -> SimClient {
        match self.builder().start_on(self.clone()) {
            Ok(client) => client,
            Err(error) => {
                unreachable!("the addresses are the model's own, and tasks can be started: {error}")
            }
        }
    }

    /// Ends when so much virtual time has passed.
    pub fn sleep(&self, time: Duration) -> Sleep {
        self.sleep_until(self.now() + time)
    }

    /// What `future` returns, unless `time` is over first: then it is dropped.
    ///
    /// # Errors
    ///
    /// [`Elapsed`] when the time is over.
    pub async fn timeout<F: Future>(&self, time: Duration, future: F) -> Result<F::Output, Elapsed> {
        let mut sleep = self.sleep(time);
        let mut future = pin!(future);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => Pin::new(&mut sleep).poll(cx).map(|()| Err(Elapsed { time })),
        })
        .await
    }

    /// Starts a task. It ends with the run, at the latest.
    #[track_caller]
    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.start(task, TaskName::Spawned(Location::caller()))
    }

    fn start<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
        name: TaskName,
    ) -> JoinHandle<T> {
        let slot = Arc::new(Mutex::new(Slot { output: None, waiter: None }));
        let result = Arc::clone(&slot);
        let task = async move {
            let output = task.await;
            let mut slot = lock(&result);
            slot.output = Some(output);
            let waiter = slot.waiter.take();
            drop(slot);
            waiter.into_iter().for_each(Waker::wake);
        };
        let number = self.world().with(|state, _| state.executor.spawn(Box::pin(task), name));
        JoinHandle { world: self.world().clone(), number, slot }
    }
}

impl Runtime for Sim {
    type Stream = SimStream;
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        self.world().now()
    }

    fn unix_ms(&self) -> u64 {
        self.world().unix_ms()
    }

    fn seed(&self) -> u64 {
        self.host.seed()
    }

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<SimStream>> + Send + 'static {
        self.host.connect(address)
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        Sleep { world: self.world().clone(), at, timer: None }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        drop(self.start(task, TaskName::Client));
        Ok(())
    }

    fn identity(&self, _: Option<IpAddr>) -> Identity {
        self.host.identity()
    }
}

/// Ends at a moment of virtual time. Made by [`Sim::sleep`].
#[derive(Debug)]
#[must_use = "no time passes before it is awaited"]
pub struct Sleep {
    world: World,
    at: Instant,
    timer: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { world, at, timer } = self.get_mut();
        world.with(|state, now| {
            if now >= *at {
                return Poll::Ready(());
            }
            let (number, old) = state.executor.set(*at, *timer, cx.waker());
            *timer = Some(number);
            state.discarded.extend(old);
            Poll::Pending
        })
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = self.timer {
            self.world.with(|state, _| {
                let waker = state.executor.unset(self.at, timer);
                state.discarded.extend(waker);
            });
        }
    }
}

/// The time of a [`Sim::timeout`] is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not done within {time:?}")]
pub struct Elapsed {
    /// The time there was.
    pub time: Duration,
}

struct Slot<T> {
    output: Option<T>,
    waiter: Option<Waker>,
}

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task's output, to be awaited. Dropping it lets the task run on.
pub struct JoinHandle<T> {
    world: World,
    number: u64,
    slot: Arc<Mutex<Slot<T>>>,
}

impl<T> JoinHandle<T> {
    /// Drops the task where it stands, as if its process were killed.
    pub fn abort(self) {
        let task = self.world.with(|state, _| state.executor.remove(self.number));
        drop(task);
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        lock(&self.slot).output.is_some()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut slot = lock(&self.slot);
        if let Some(output) = slot.output.take() {
            return Poll::Ready(output);
        }
        let old = slot.waiter.replace(cx.waker().clone());
        drop(slot);
        drop(old);
        Poll::Pending
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
