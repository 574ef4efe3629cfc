//! The handles' part: what they do is told in their caller's task, and never under the lock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rmq_core::{Address, Instant};
use tracing::{debug, error, info, warn};

use super::cause::Cause;
use super::fold::{Folds, Key};
use super::lines::{CLIENT, Line, SEND, millis};
use crate::discovery::NameServerSourceError;
use crate::error::Error;
use crate::shared::{Shared, Task};

pub(crate) fn started(client_id: &str) {
    info!(target: CLIENT, client_id, "client started");
}

/// Whether it was not told to end, and has not.
fn is_running(shared: &Shared) -> bool {
    let state = shared.lock();
    !matches!(state.task, Task::Ended | Task::Lost) && !state.core.is_shutting_down()
}

pub(crate) fn shutting_down(shared: &Shared, within: Duration) {
    if is_running(shared) {
        info!(target: CLIENT, client_id = shared.client_id(), within_ms = millis(within), "shutting down");
    }
}

/// The last handle goes.
pub(crate) fn dropped(shared: &Shared) {
    if is_running(shared) {
        warn!(
            target: CLIENT, client_id = shared.client_id(),
            "last handle dropped without shutdown(): what was under way is cancelled, and brokers are not told; \
             call shutdown() and await it first"
        );
    }
}

/// The client ended before its time.
pub(crate) fn lost(client_id: &str, panicked: bool) {
    guarded(|| tell_lost(client_id, panicked));
}

/// Perhaps a panic unwinds already: one of a subscriber must not be the second.
pub(super) fn guarded(tell: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(tell));
}

fn tell_lost(client_id: &str, panicked: bool) {
    if panicked {
        error!(target: CLIENT, client_id, "the client's task was lost: it panicked");
    } else {
        error!(target: CLIENT, client_id, "the client's task was lost: its runtime ended before shutdown() was done");
    }
}

pub(crate) fn rejected(client_id: &str, error: &Error) {
    debug!(target: SEND, client_id, cause = %error, "not accepted");
}

/// A list of name servers that is about to be taken.
pub(crate) struct List(Vec<Address>);

impl List {
    pub(crate) fn of(list: &[Address]) -> Self {
        Self(list.to_vec())
    }

    pub(crate) fn changed<E>(self, client_id: &str, changed: &Result<bool, E>) {
        if matches!(changed, Ok(true)) {
            let list: Vec<_> = self.0.iter().map(ToString::to_string).collect();
            info!(target: CLIENT, client_id, name_servers = list.join(";"), "name servers changed");
        }
    }
}

/// What looks for name servers came to.
#[derive(Default)]
pub(crate) struct Source {
    folds: Folds,
}

impl Source {
    pub(crate) fn looked(&mut self, shared: &Shared, now: Instant) {
        let problem = shared.lock().source_error.as_ref().map(quiet);
        let is_it = |key: &Key| *key == Key::Source;
        let line = match problem {
            Some(text) => {
                let cause = Cause::Addresses(text.into());
                let tally = self.folds.fail(now, is_it, || Key::Source, cause.clone());
                tally.map(|tally| Line::Trouble { key: Key::Source, cause, tally })
            }
            None => self.folds.well(now, is_it).1.map(|tally| Line::Well { key: Key::Source, tally }),
        };
        if let Some(line) = line {
            line.tell(shared.client_id());
        }
    }
}

/// An address server's body, and what a user's own source says, are words of others.
fn quiet(error: &NameServerSourceError) -> String {
    match error {
        NameServerSourceError::AddressServer { .. } | NameServerSourceError::Empty => error.to_string(),
        NameServerSourceError::List(error) => {
            format!("an entry of the list cannot be read: {}", error.problem)
        }
        NameServerSourceError::Other(_) => "the source gave none".to_owned(),
    }
}
