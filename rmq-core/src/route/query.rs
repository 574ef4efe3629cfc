//! One question about a topic, put to one name server after the other within one budget (producer §2.3, PORT).

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use rmq_proto::body::TopicRouteData;
use rmq_proto::code::ResponseCode;

use crate::address::Address;
use crate::deadlines::Armed;
use crate::error::{CloseCause, RequestError, ServerOutcome};
use crate::link::Asking;
use crate::time::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Servers still to ask, the current one first.
    servers: Vec<Address>,
    outcomes: Vec<ServerOutcome>,
    /// When the question itself was put.
    asked: Instant,
    timeout: Duration,
    /// That of the waiter with the most time; a refresh has the whole timeout.
    deadline: Instant,
    pub(crate) began: Instant,
    pub(crate) slice: Instant,
    /// Where the question to the current server is.
    pub(crate) asking: Asking,
    pub(crate) timer: Option<Armed>,
    /// Whether somebody's operation waits, or this is a refresh.
    pub(crate) by_user: bool,
    asked_again: bool,
    /// No name server is known yet, and a list of them is to come.
    awaits_list: bool,
}

/// How a question ended.
#[derive(Clone, Debug)]
pub(crate) enum QueryOutcome {
    Found(Arc<TopicRouteData>),
    /// Somebody who answered said that there is no such topic; `unanimous` when each server did.
    Missing {
        servers: Vec<ServerOutcome>,
        unanimous: bool,
    },
    Unavailable {
        servers: Vec<ServerOutcome>,
    },
}

impl Query {
    /// A question for somebody who waits until `waiter`, or for nobody.
    pub(crate) fn new(
        servers: Vec<Address>,
        now: Instant,
        timeout: Duration,
        waiter: Option<Instant>,
    ) -> Self {
        let whole = now + timeout;
        let mut query = Self {
            awaits_list: servers.is_empty(),
            servers,
            outcomes: Vec::new(),
            asked: now,
            timeout,
            deadline: waiter.map_or(whole, |waiter| waiter.min(whole)),
            began: now,
            slice: now,
            asking: Asking::Idle,
            timer: None,
            by_user: waiter.is_some(),
            asked_again: false,
        };
        query.slice = query.share(now);
        query
    }

    /// When the current server has had its share of the time.
    fn share(&self, now: Instant) -> Instant {
        let left = self.deadline.saturating_since(now);
        now + left / u32::try_from(self.servers.len().max(1)).unwrap_or(u32::MAX)
    }

    pub(crate) fn server(&self) -> Option<&Address> {
        self.servers.first()
    }

    /// Somebody joins who waits until `waiter`. Who has more time lengthens the question; who has less shortens it for
    /// nobody.
    pub(crate) fn join(&mut self, waiter: Instant) {
        self.by_user = true;
        self.deadline = self.deadline.max(waiter.min(self.asked + self.timeout));
        self.slice = self.slice.max(self.share(self.began));
    }

    /// Whether the current server is to be asked once more, on a new connection: that one was lost says nothing about the
    /// server. It may have been dead since long before, and nobody knew. At most once in a question.
    pub(crate) fn asks_again(&mut self, now: Instant, error: &RequestError) -> bool {
        let lost = matches!(error, RequestError::Closed { cause: CloseCause::Stream(_), .. });
        if !lost || self.asked_again || now >= self.deadline {
            return false;
        }
        self.asked_again = true;
        self.start_server(now);
        true
    }

    /// Takes another list of servers: the current one keeps its turn, with a share of the time that leaves the others theirs,
    /// and those that were not asked yet follow. True when that is what was waited for.
    pub(crate) fn relist(&mut self, now: Instant, list: &[Address]) -> bool {
        let current = self.servers.first().cloned();
        let is_asked = |address: &Address| {
            current.as_ref() == Some(address) || self.outcomes.iter().any(|asked| asked.address == *address)
        };
        let rest: Vec<_> = list.iter().filter(|address| !is_asked(address)).cloned().collect();
        self.servers = current.into_iter().chain(rest).collect();
        let awaited = core::mem::take(&mut self.awaits_list);
        if awaited {
            self.start_server(now);
        } else {
            self.slice = self.slice.min(self.share(now));
        }
        awaited
    }

    fn start_server(&mut self, now: Instant) {
        self.asking = Asking::Idle;
        self.began = now;
        self.slice = self.share(now);
    }

    /// The current server failed with `error`; the next one gets its share of what is left.
    pub(crate) fn fail(&mut self, now: Instant, error: RequestError) {
        if self.servers.is_empty() {
            return;
        }
        let address = self.servers.remove(0);
        self.outcomes.push(ServerOutcome { address, error: Some(error) });
        self.start_server(now);
    }

    /// What each server said so far.
    pub(crate) fn outcomes(&self) -> Vec<ServerOutcome> {
        let waiting =
            self.servers.first().map(|address| ServerOutcome { address: address.clone(), error: None });
        self.outcomes.iter().cloned().chain(waiting).collect()
    }

    /// The end, when no server is left to ask or no time to ask it.
    pub(crate) fn exhausted(&self, now: Instant) -> Option<QueryOutcome> {
        if (self.awaits_list || !self.servers.is_empty()) && now < self.deadline {
            return None;
        }
        let servers = self.outcomes.clone();
        let says_missing = |outcome: &ServerOutcome| {
            outcome.error.as_ref().and_then(RequestError::code) == Some(ResponseCode::TOPIC_NOT_EXIST)
        };
        let missing = servers.iter().filter(|outcome| says_missing(outcome)).count();
        Some(match missing {
            0 => QueryOutcome::Unavailable { servers },
            _ => QueryOutcome::Missing {
                unanimous: missing == servers.len() && self.servers.is_empty(),
                servers,
            },
        })
    }
}
