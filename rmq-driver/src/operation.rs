//! One operation, from the first poll of its future to its outcome.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use rmq_core::{OpId, SendResult};

use crate::error::Error;
use crate::shared::{Owner, Shared};
use crate::waiters::{Key, Outcome};

/// An operation that the core accepted; without a key, nobody waits for it.
pub(crate) struct Submitted {
    pub(crate) op: OpId,
    pub(crate) key: Option<Key>,
    pub(crate) body: Bytes,
}

/// What a future asks of the core.
pub(crate) trait Command {
    /// The outcome, where it is known beforehand: nothing is submitted then.
    fn known(&self, _: &Shared) -> Option<Outcome> {
        None
    }

    /// With a waker, its sender waits for the outcome.
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error>;
}

pub(crate) struct Operation<C> {
    owner: Arc<Owner>,
    stage: Stage<C>,
}

enum Stage<C> {
    New(C),
    /// The body is kept, so that the core's drop of it, under the lock, is not the last.
    Waiting(OpId, Key, Bytes),
    Done,
}

impl<C: Command> Operation<C> {
    pub(crate) const fn new(owner: Arc<Owner>, command: C) -> Self {
        Self { owner, stage: Stage::New(command) }
    }

    fn submit(&self, command: C, waker: Option<Waker>) -> Result<Stage<C>, Error> {
        let Submitted { op, key, body } = command.submit(&self.owner, waker)?;
        Ok(key.map_or(Stage::Done, |key| Stage::Waiting(op, key, body)))
    }

    /// Polls one that ends as a send does.
    pub(crate) fn poll_sent(&mut self, cx: &Context<'_>) -> Poll<Result<SendResult, Error>> {
        Poll::Ready(match ready!(self.poll(cx))? {
            Outcome::Sent(result) => Ok(result),
            Outcome::Failed(error) => Err(Error::Send(error)),
            _ => Err(Error::TaskLost),
        })
    }

    /// # Panics
    ///
    /// When polled after it ended, as futures may.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<Result<Outcome, Error>> {
        if let Stage::Waiting(_, key, _) = &self.stage {
            let outcome = ready!(self.owner.poll_outcome(*key, cx));
            self.stage = Stage::Done;
            return Poll::Ready(Ok(outcome));
        }
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New(command) => match command.known(&self.owner) {
                Some(outcome) => Poll::Ready(Ok(outcome)),
                None => {
                    self.stage = self.submit(command, Some(cx.waker().clone()))?;
                    Poll::Pending
                }
            },
            Stage::Waiting(..) | Stage::Done => panic!("a future was polled after it had ended"),
        }
    }

    pub(crate) fn detach(mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New(command) => {
                self.submit(command, None)?;
            }
            Stage::Waiting(op, key, body) => self.owner.detach(op, key, body),
            Stage::Done => {}
        }
        Ok(())
    }
}

impl<C> Drop for Operation<C> {
    fn drop(&mut self) {
        if let Stage::Waiting(op, key, _) = self.stage {
            self.owner.cancel(op, key);
        }
    }
}

impl<C> fmt::Debug for Operation<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.stage {
            Stage::New(_) => "New",
            Stage::Waiting(..) => "Waiting",
            Stage::Done => "Done",
        })
    }
}
