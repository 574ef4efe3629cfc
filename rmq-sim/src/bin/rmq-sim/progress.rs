//! How far it is, on a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const WIDTH: u64 = 30;
const PERIOD: Duration = Duration::from_millis(100);

/// A line on stderr that is written over; nothing when that is no terminal.
pub(crate) struct Progress {
    total: u64,
    begin: Instant,
    next: Instant,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(total: u64) -> Self {
        let now = now();
        Self { total, begin: now, next: now, is_shown: io::stderr().is_terminal() }
    }

    /// Real time since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        now().saturating_duration_since(self.begin)
    }

    pub(crate) fn show(&mut self, done: u64, violations: u64) {
        if !self.is_shown {
            return;
        }
        let now = now();
        if now < self.next {
            return;
        }
        self.next = now + PERIOD;
        let filled = (u128::from(done) * u128::from(WIDTH) / u128::from(self.total.max(1))) as usize;
        let rate = done as f64 / self.elapsed().as_secs_f64().max(1e-3);
        let bar: String = (0..WIDTH as usize).map(|at| if at < filled { '#' } else { '.' }).collect();
        let total = self.total;
        // Whether anybody sees it makes no difference.
        drop(write!(
            io::stderr(),
            "\r[{bar}] {done}/{total} runs, {rate:.0} runs/s, {violations} violations  "
        ));
    }

    /// Takes the line away, for others to write.
    pub(crate) fn clear(&mut self) {
        if self.is_shown {
            drop(write!(io::stderr(), "\r\x1b[K"));
            self.next = self.begin;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how fast it runs is told to people, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}
