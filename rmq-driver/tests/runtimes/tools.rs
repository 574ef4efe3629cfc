//! What the scenarios share: clients, tasks, and waiting for something to be so.

use std::future::{Future, poll_fn};
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use rmq_driver::{Client, Message, Producer, ProducerConfig, Runtime, Stats};

/// Longer than anything takes on a machine that is slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn message(body: impl Into<bytes::Bytes>) -> Message {
    Message::new("orders", body)
}

/// A client that waits long.
pub(crate) fn client<R: Runtime + Default>(name_server: impl ToString) -> (Client<R>, Producer) {
    // Frames are as long as the bodies.
    let builder = Client::<R>::builder().name_server(name_server).write_stall(PATIENCE).compression(None);
    let client = builder.start().unwrap();
    let producer = client.producer_with(ProducerConfig::new("group").send_timeout(PATIENCE)).unwrap();
    (client, producer)
}

/// An address that nobody listens at.
pub(crate) fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Looks until it is so.
pub(crate) async fn until<R: Runtime + Default>(what: &str, mut is_so: impl FnMut() -> bool) {
    let runtime = R::default();
    let end = runtime.now() + PATIENCE;
    while !is_so() {
        let now = runtime.now();
        assert!(now < end, "never so: {what}");
        runtime.sleep_until(now + Duration::from_millis(1)).await;
    }
}

/// What comes of a future that must not hang.
pub(crate) async fn in_time<R: Runtime + Default, T>(what: &str, future: impl Future<Output = T>) -> T {
    let runtime = R::default();
    let (mut future, mut end) = (pin!(future), pin!(runtime.sleep_until(runtime.now() + PATIENCE)));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Pending if end.as_mut().poll(cx).is_ready() => panic!("never ends: {what}"),
        polled => polled,
    })
    .await
}

/// Lets the other tasks go on.
pub(crate) async fn step_aside() {
    let mut aside = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut aside, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls once.
pub(crate) async fn begin<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// Tasks, each with an outcome.
pub(crate) struct Tasks<T>(Arc<Mutex<Outcomes<T>>>);

struct Outcomes<T> {
    ended: Vec<T>,
    tasks: usize,
    waker: Option<Waker>,
}

impl<T: Send + 'static> Tasks<T> {
    /// Each future has a task of its own.
    pub(crate) fn start<R, F>(futures: impl IntoIterator<Item = F>) -> Self
    where
        R: Runtime + Default,
        F: Future<Output = T> + Send + 'static,
    {
        let runtime = R::default();
        let tasks = Self(Arc::new(Mutex::new(Outcomes { ended: Vec::new(), tasks: 0, waker: None })));
        for future in futures {
            tasks.0.lock().unwrap().tasks += 1;
            let outcomes = Arc::clone(&tasks.0);
            let task = async move {
                let outcome = future.await;
                let mut outcomes = outcomes.lock().unwrap();
                outcomes.ended.push(outcome);
                if outcomes.ended.len() == outcomes.tasks
                    && let Some(waker) = outcomes.waker.take()
                {
                    waker.wake();
                }
            };
            runtime.spawn(task).unwrap();
        }
        tasks
    }

    /// The outcomes, first ended first, when all have ended.
    pub(crate) async fn join<R: Runtime + Default>(self) -> Vec<T> {
        let all = poll_fn(|cx| {
            let mut outcomes = self.0.lock().unwrap();
            if outcomes.ended.len() == outcomes.tasks {
                return Poll::Ready(std::mem::take(&mut outcomes.ended));
            }
            outcomes.waker = Some(cx.waker().clone());
            Poll::Pending
        });
        in_time::<R, _>("all tasks", all).await
    }
}

/// Nothing is under way, and nothing is held of what was.
pub(crate) fn assert_nothing_left(stats: &Stats) {
    assert_eq!((stats.operations, stats.operation_bytes, stats.operation_timers), (0, 0, 0), "{stats:?}");
    assert_eq!((stats.queued, stats.awaited, stats.permits, stats.in_line), (0, 0, 0, 0), "{stats:?}");
    assert_eq!((stats.misuses, stats.protocol_errors), (0, 0), "{stats:?}");
}
