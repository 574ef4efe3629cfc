//! Clients for programs without async code: any call of a client is waited for by [`wait`](Wait::wait).
//!
//! ```no_run
//! use rmq_asyncstd::Message;
//! use rmq_asyncstd::blocking::{Client, Wait};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let client = Client::builder().name_server("127.0.0.1:9876").start()?;
//!     let producer = client.producer("order-service")?;
//!     let sent = producer.send(Message::new("orders", "hello").tag("created").key("order-42")).wait()?;
//!     println!("{} in {} at offset {}", sent.message_id, sent.queue, sent.queue_offset);
//!     client.shutdown().wait()?;
//!     Ok(())
//! }
//! ```
//!
//! The handles are those of async code, so whatever they can do is there, with the same errors. They are shared by any number of
//! threads: send from many of them to have many messages under way, or hand
//! [`wait`](Wait::wait) a future that joins several. Messages whose outcome nobody waits for are
//! [detached](crate::SendFuture::detach).
//!
//! Code that a call is given, such as the local work of a [transaction](crate::Producer::send_transaction) or the checker of
//! [`transaction_checks`](crate::Producer::transaction_checks), runs in the thread that waits, and may block:
//!
//! ```
//! # use rmq_asyncstd::{Error, Message, Producer, Resolution, SendResult};
//! # use rmq_asyncstd::blocking::Wait;
//! # fn book(_: &str) -> Result<Resolution, std::io::Error> { Ok(Resolution::Commit) }
//! # fn example(producer: Producer) -> Result<(), Error> {
//! let order = Message::new("orders", "hello").key("order-42");
//! producer.send_transaction(order, async |sent: SendResult| book(&sent.message_id)).wait()?;
//!
//! let checks = producer.transaction_checks();
//! std::thread::spawn(|| checks.run(async |message| book(&message.message_id())).wait());
//! # Ok(())
//! # }
//! ```
//!
//! # In async code
//!
//! The client's task has a thread of its own (it is a [`smol::Client`](crate::smol::Client)), and a thread that waits takes no part in any
//! runtime. So waiting within a task of tokio, smol or another runtime ends as it does elsewhere; but it holds up
//! that runtime's thread meanwhile, for as long as the call may take: 3 s for a send, by default. Await there instead.
//!
//! Futures of clients whose task runs on such a runtime, those of `rmq-tokio` and [`async_std`](crate::async_std), must not be
//! waited for within it: where no thread is left for the task, nothing ever ends.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

pub use crate::smol::{Client, ClientBuilder};

/// Waiting for a future in the thread that is here. Each future has it.
pub trait Wait: IntoFuture + Sized {
    /// Waits until the future ends. A client's calls have times of their own in which they do.
    fn wait(self) -> Self::Output;

    /// Waits until the future ends, but not longer than that; zero only looks. A future that is not done then is dropped, which
    /// cancels a client's call. One that is only lent is not: `(&mut sending).wait_timeout(second)` can be followed by
    /// another wait for `sending`.
    ///
    /// # Errors
    ///
    /// [`TimedOut`] when the time is over. A message may then have been stored all the same.
    fn wait_timeout(self, within: Duration) -> Result<Self::Output, TimedOut>;
}

impl<F: IntoFuture> Wait for F {
    fn wait(self) -> F::Output {
        let Ok(output) = drive(self.into_future(), |signal| {
            signal.wait();
            Ok::<_, Infallible>(())
        });
        output
    }

    fn wait_timeout(self, within: Duration) -> Result<F::Output, TimedOut> {
        let Some(until) = Instant::now().checked_add(within) else { return Ok(self.wait()) };
        drive(
            self.into_future(),
            |signal| if signal.wait_until(until) { Ok(()) } else { Err(TimedOut { within }) },
        )
    }
}

/// Polls until the future ends, or `wait`, which is called in between, fails.
fn drive<F: Future, E>(future: F, wait: impl Fn(&Signal) -> Result<(), E>) -> Result<F::Output, E> {
    let signal = Arc::new(Signal::default());
    let waker = Waker::from(Arc::clone(&signal));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Ok(output);
        }
        wait(&signal)?;
    }
}

/// Whether a waiting thread was woken. Not a thread's park: that is shared with whatever else the thread waits in.
#[derive(Default)]
struct Signal {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let woken = self.changed.wait_while(self.lock(), |woken| !*woken);
        *woken.unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// False when the time is over and nothing has woken it.
    fn wait_until(&self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(self.lock(), left, |woken| !*woken);
        let (mut woken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *woken)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.lock() = true;
        self.changed.notify_one();
    }
}

/// A future did not end in the time that it was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    within: Duration,
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not done within {:?}", self.within)
    }
}

impl Error for TimedOut {}
