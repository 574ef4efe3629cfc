//! Which streams a wake is about: a loop with many of them looks only at those.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use rmq_core::ConnId;

/// The streams that woke since the loop last looked.
#[derive(Default)]
pub(crate) struct Ready(Arc<Mutex<Rung>>);

#[derive(Default)]
struct Rung {
    bells: Vec<Arc<Bell>>,
    task: Option<Waker>,
}

/// The waker that one stream is polled with.
struct Bell {
    conn: ConnId,
    /// In `bells` already. Changed under the lock only.
    rung: AtomicBool,
    ready: Arc<Mutex<Rung>>,
}

fn lock(rung: &Mutex<Rung>) -> MutexGuard<'_, Rung> {
    rung.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ready {
    /// A waker for the stream of a connection.
    pub(crate) fn waker(&self, conn: ConnId) -> Waker {
        let bell = Bell { conn, rung: AtomicBool::new(false), ready: Arc::clone(&self.0) };
        Waker::from(Arc::new(bell))
    }

    /// Calls `each` with the streams that woke, and leaves the task's waker for those that will.
    pub(crate) fn take(&self, task: &Waker, mut each: impl FnMut(ConnId)) {
        let mut rung = lock(&self.0);
        let known = rung.task.as_ref().is_some_and(|known| known.will_wake(task));
        if known && rung.bells.is_empty() {
            return;
        }
        let bells = std::mem::take(&mut rung.bells);
        for bell in &bells {
            bell.rung.store(false, Ordering::Relaxed);
        }
        drop(rung);
        for bell in &bells {
            each(bell.conn);
        }
        if !known {
            let replaced = lock(&self.0).task.replace(task.clone());
            drop(replaced);
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut rung = lock(&self.ready);
        if !self.rung.swap(true, Ordering::Relaxed) {
            rung.bells.push(Arc::clone(self));
        }
        let task = rung.task.clone();
        drop(rung);
        if let Some(task) = task {
            task.wake();
        }
    }
}
