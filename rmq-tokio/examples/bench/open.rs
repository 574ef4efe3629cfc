//! The open loop: messages begin at their time, whatever became of those before.
//!
//! A thread keeps time, as timers of a runtime go by milliseconds. It lets idle senders go, and starts more of them where
//! too few are idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::Failure;
use crate::load::{Load, Tally, Until};
use crate::process;

struct Open {
    load: Arc<Load>,
    until: Until,
    began: Instant,
    rate: u64,
    /// One for each message that may begin.
    starts: Semaphore,
    /// The number of the next message to begin.
    next: AtomicU64,
    ended: AtomicU64,
    /// How many there are, once that is known.
    total: AtomicU64,
}

pub(crate) async fn run(load: &Arc<Load>, until: Until, rate: u64, most: usize) -> Result<Tally, Failure> {
    let open = Arc::new(Open {
        load: Arc::clone(load),
        until,
        began: Instant::now(),
        rate,
        starts: Semaphore::new(0),
        next: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        total: AtomicU64::new(u64::MAX),
    });
    let runtime = Handle::current();
    let (senders, pacing) = spawn_blocking(move || pace(&open, &runtime, most)).await??;
    let mut all = Tally { pacing, ..Tally::new()? };
    for sender in senders {
        all.merge(&sender.await?)?;
    }
    Ok(all)
}

impl Open {
    fn time_of(&self, number: u64) -> Instant {
        let nanos = u128::from(number) * 1_000_000_000 / u128::from(self.rate);
        self.began + Duration::from_nanos(nanos as u64)
    }

    /// Messages whose time has come.
    fn due(&self, now: Instant) -> u64 {
        let passed = now.min(self.until.deadline.unwrap_or(now)).duration_since(self.began);
        let due = passed.as_nanos() * u128::from(self.rate) / 1_000_000_000 + 1;
        (due as u64).min(self.until.count)
    }
}

type Senders = Vec<JoinHandle<Tally>>;

/// Lets each message begin at its time; returns when the last one has, with the CPU time that it took.
fn pace(open: &Arc<Open>, runtime: &Handle, most: usize) -> Result<(Senders, Duration), Failure> {
    let cpu = process::thread_cpu_time();
    let (mut senders, mut begun) = (Vec::new(), 0);
    loop {
        let now = Instant::now();
        let due = open.due(now);
        let under_way = due - open.ended.load(Ordering::Relaxed);
        while senders.len() < most && (senders.len() as u64) < under_way {
            let (open, tally) = (Arc::clone(open), Tally::new()?);
            senders.push(runtime.spawn(async move { send(&open, tally).await }));
        }
        open.starts.add_permits((due - begun) as usize);
        begun = due;
        let next = open.time_of(begun);
        if !open.until.wants(begun, next) {
            break;
        }
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    open.total.store(begun, Ordering::Relaxed);
    // Whoever gets one of these finds that there is nothing left to send.
    open.starts.add_permits(senders.len());
    let cpu = cpu.zip(process::thread_cpu_time()).map_or(Duration::ZERO, |(from, to)| to - from);
    Ok((senders, cpu))
}

async fn send(open: &Open, mut tally: Tally) -> Tally {
    while let Ok(start) = open.starts.acquire().await {
        start.forget();
        let number = open.next.fetch_add(1, Ordering::Relaxed);
        if number >= open.total.load(Ordering::Relaxed) {
            break;
        }
        let time = open.time_of(number);
        tally.lateness.saturating_record(time.elapsed().as_nanos() as u64);
        let outcome = open.load.send().await;
        tally.count(open.load.is_failure(outcome), time.elapsed());
        open.ended.fetch_add(1, Ordering::Relaxed);
    }
    tally
}
