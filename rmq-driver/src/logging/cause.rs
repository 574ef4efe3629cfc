//! Why something failed, in words that quote nobody: what peers and hooks say may hold what is never told.

use std::fmt;
use std::sync::Arc;

use rmq_core::{
    Address, Attempt, CloseCause, EndTransactionError, RecallError, RequestError, SendBackAttempt,
    SendBackError, SendBackErrorKind, SendError, SendErrorKind,
};

/// What a line says of the last failure.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// Of a connection; whether it had been open.
    Closed(CloseCause, bool),
    /// Of the attempt that an operation ended with.
    Attempt {
        error: RequestError,
        broker: Option<Arc<str>>,
        address: Option<Address>,
        attempts: usize,
    },
    /// A broker is left alone for so many milliseconds.
    Isolated(u64),
    Addresses(Arc<str>),
    Address(Address),
    Text(&'static str),
}

impl Cause {
    pub(super) const fn answered(code: rmq_core::proto::code::ResponseCode) -> Self {
        let error = RequestError::Answered { code, remark: None };
        Self::Attempt { error, broker: None, address: None, attempts: 1 }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(cause, _) => cause.fmt(f),
            Self::Attempt { error, .. } => Quiet(error).fmt(f),
            Self::Isolated(millis) => write!(f, "left alone for {millis} ms"),
            Self::Addresses(list) => f.write_str(list),
            Self::Address(address) => address.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// An error without the words of others.
pub(super) struct Quiet<'a>(pub(super) &'a RequestError);

impl fmt::Display for Quiet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RequestError::Answered { code, .. } => code.fmt(f),
            RequestError::BadHeader(_) => f.write_str("unusable answer"),
            RequestError::BadRoute(_) => f.write_str("unusable route"),
            RequestError::Forbidden { .. } => f.write_str("forbidden by a hook"),
            error => error.fmt(f),
        }
    }
}

/// What failures of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The broker's code, if it answered with one.
    code: i32,
}

impl Kind {
    pub(super) const fn named(name: &'static str) -> Self {
        Self { name, code: 0 }
    }

    pub(super) const fn of(error: &RequestError) -> Self {
        Self::named(match error {
            RequestError::Connect(_) | RequestError::HeldOff(_) => "not-connected",
            RequestError::Closed { .. } => "connection-lost",
            RequestError::Timeout { .. } | RequestError::WriteTimeout { .. } => "timeout",
            RequestError::Answered { code, .. } => return Self { name: "refused", code: code.0 },
            RequestError::GoneAway => "going-away",
            RequestError::BadHeader(_) | RequestError::WrongIds { .. } | RequestError::BadRoute(_) => {
                "unusable-answer"
            }
            RequestError::NoMaster => "no-master",
            RequestError::Forbidden { .. } => "forbidden",
            RequestError::TooManyConnections { .. } => "too-many-connections",
            _ => "other",
        })
    }

    const fn of_end(kind: &SendErrorKind) -> (Self, &'static str) {
        let (name, text) = match kind {
            SendErrorKind::NoNameServer => ("no-name-server", "no name server is configured"),
            SendErrorKind::RouteUnavailable { .. } => {
                ("no-route", "no name server gave the route of the topic")
            }
            SendErrorKind::TopicNotFound { .. } => ("no-topic", "the topic does not exist"),
            SendErrorKind::NoWritableQueue => ("no-queue", "no broker has a writable queue of the topic"),
            SendErrorKind::NoPermit => ("no-permit", "other messages of the producer took all permits"),
            SendErrorKind::TimedOut => ("timeout", "the time of the call was used up"),
            SendErrorKind::ShutDown => ("shut-down", "the client shut down"),
            _ => ("other", "no attempt was made"),
        };
        (Self::named(name), text)
    }
}

/// What is told of a send that failed.
pub(super) fn of_send(error: &SendError) -> (Kind, Cause) {
    let attempts = error.attempts().len();
    match error.attempts().last() {
        Some(last) if *error.kind() != SendErrorKind::ShutDown => {
            of_attempt(last.error.clone(), Some(last.broker.clone()), last.address.clone(), attempts)
        }
        _ => {
            let (kind, text) = Kind::of_end(error.kind());
            (kind, Cause::Text(text))
        }
    }
}

pub(super) fn of_back(error: &SendBackError) -> (Kind, Cause) {
    match (error.kind(), error.attempts().last()) {
        (SendBackErrorKind::RetryFailed(error), _) => of_send(error),
        (SendBackErrorKind::DeadLetterRefused, Some(SendBackAttempt { broker, address, error: why, .. })) => {
            of_attempt(why.clone(), broker.clone(), address.clone(), error.tries() as usize)
        }
        (SendBackErrorKind::ShutDown, _) => (Kind::named("shut-down"), Cause::Text("the client shut down")),
        _ => (Kind::named("no-broker"), Cause::Text("there was no broker to ask")),
    }
}

pub(super) fn of_recall(error: &RecallError) -> (Kind, Cause) {
    match error.attempt() {
        Some(last) => of_attempt(last.error.clone(), Some(last.broker.clone()), last.address.clone(), 1),
        None => (Kind::named("no-broker"), Cause::Text("there was no broker to ask")),
    }
}

pub(super) fn of_end(error: &EndTransactionError) -> (Kind, Cause) {
    of_attempt(error.cause().clone(), Some(error.broker().into()), error.address().cloned(), 1)
}

fn of_attempt(
    error: RequestError,
    broker: Option<Arc<str>>,
    address: Option<Address>,
    attempts: usize,
) -> (Kind, Cause) {
    (Kind::of(&error), Cause::Attempt { error, broker, address, attempts })
}

/// The attempts of an operation, one after the other.
pub(super) struct Tried<'a>(pub(super) &'a [Attempt]);

impl fmt::Display for Tried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Attempt { broker, address, queue_id, error, .. }) in self.0.iter().enumerate() {
            write!(f, "{}{broker}", if i == 0 { "" } else { "; " })?;
            if let Some(address) = address {
                write!(f, " ({address})")?;
            }
            write!(f, ", queue {queue_id}: {}", Quiet(error))?;
        }
        Ok(())
    }
}
