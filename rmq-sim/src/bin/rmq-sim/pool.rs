//! Threads that make runs, and one that gets their reports in the order of the seeds.

use std::collections::BTreeMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use rmq_sim::run::RunReport;

use crate::make;

/// Seeds that threads may be ahead of what was reported.
const AHEAD: u64 = 4_096;

/// What seed comes next.
struct Claims {
    state: Mutex<State>,
    /// Something was reported, or it is over.
    moved: Condvar,
}

struct State {
    next: u64,
    end: u64,
    reported: u64,
}

/// Makes a run of each seed in `jobs` threads and gives their reports to `each`, in the order of the seeds, until that
/// breaks off.
pub(crate) fn run(
    seeds: Range<u64>,
    jobs: usize,
    twice: bool,
    mut each: impl FnMut(&RunReport) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let state = State { next: seeds.start, end: seeds.end, reported: seeds.start };
    let claims = Claims { state: Mutex::new(state), moved: Condvar::new() };
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..jobs {
            let (sender, claims) = (sender.clone(), &claims);
            scope.spawn(move || {
                while let Some(seed) = claims.claim() {
                    if sender.send(make::report(seed, twice)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut next = seeds.start;
        for report in receiver {
            waiting.insert(report.seed, report);
            while let Some(report) = waiting.remove(&next) {
                next += 1;
                match each(&report) {
                    Ok(ControlFlow::Continue(())) => claims.report(next),
                    end => {
                        claims.end();
                        return end.map(|_| ());
                    }
                }
            }
        }
        Ok(())
    })
}

impl Claims {
    fn claim(&self) -> Option<u64> {
        let mut state = self.lock();
        while state.next < state.end && state.next >= state.reported.saturating_add(AHEAD) {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let seed = state.next;
        if seed >= state.end {
            return None;
        }
        state.next += 1;
        Some(seed)
    }

    fn report(&self, reported: u64) {
        self.lock().reported = reported;
        self.moved.notify_all();
    }

    fn end(&self) {
        self.lock().end = 0;
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
