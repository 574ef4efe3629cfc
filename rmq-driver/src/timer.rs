//! The loop's two views of time: the runtime's timer, and the wall clock.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use rmq_core::{Input, Instant};

use crate::runtime::Runtime;

/// The one timer that a loop has armed at its runtime.
pub(crate) struct Timer<R: Runtime> {
    at: Option<Instant>,
    sleep: Pin<Box<Option<R::Sleep>>>,
}

impl<R: Runtime> Timer<R> {
    pub(crate) fn new() -> Self {
        Self { at: None, sleep: Box::pin(None) }
    }

    /// Whether it went off; it is disarmed then.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        let went_off = self.sleep.as_mut().as_pin_mut().is_some_and(|sleep| sleep.poll(cx).is_ready());
        if went_off {
            self.sleep.set(None);
            self.at = None;
        }
        went_off
    }

    /// Sees to it that it goes off no later than `at`; true when it had to be armed anew. One that goes off too early is
    /// left alone: deadlines move with each send, and looking at them once in vain costs less than following them.
    pub(crate) fn arm(&mut self, at: Instant, runtime: &R) -> bool {
        if self.at.is_some_and(|armed| armed <= at) {
            return false;
        }
        self.sleep.set(Some(runtime.sleep_until(at)));
        self.at = Some(at);
        true
    }
}

/// When the core was told the wall clock, and what it makes of it.
pub(crate) struct WallClock {
    told: Instant,
    unix_ms: u64,
    looked: Instant,
}

impl WallClock {
    /// How often the core is told, at least.
    const PERIOD: Duration = Duration::from_secs(60);

    /// How often a jump is looked for while there is work.
    const LOOK: Duration = Duration::from_secs(1);

    /// How far the clock may be off before the core is told at once.
    const JUMP_MS: u64 = 500;

    pub(crate) const fn new(now: Instant, unix_ms: u64) -> Self {
        Self { told: now, unix_ms, looked: now }
    }

    /// When the core is to be told again, whatever happens.
    pub(crate) fn due(&self) -> Instant {
        self.told + Self::PERIOD
    }

    /// What to tell the core, if it is time or the clock jumped.
    pub(crate) fn look<R: Runtime>(&mut self, now: Instant, runtime: &R) -> Option<Input> {
        if now < self.looked + Self::LOOK && now < self.due() {
            return None;
        }
        self.looked = now;
        let unix_ms = runtime.unix_ms();
        let passed = now.saturating_since(self.told);
        let expected = self.unix_ms.saturating_add(passed.as_millis() as u64);
        if passed < Self::PERIOD && unix_ms.abs_diff(expected) < Self::JUMP_MS {
            return None;
        }
        (self.told, self.unix_ms) = (now, unix_ms);
        Some(Input::WallClock { unix_ms })
    }
}
