//! The loop's part: what the core's events amount to is noted under the lock and told after it.

use std::fmt::Write;
use std::time::Duration;

use rmq_core::{CloseCause, Event, Instant, SendError, SendErrorKind, SendResult};
use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::cause::{Cause, Kind, Quiet, Tried, of_back, of_end, of_recall, of_send};
use super::fold::{Flood, Folds, Key, Trouble};
use super::handles::guarded;
use super::lines::{Failure, Group, Line, SEND, millis};

/// Least time between two looks at what was only counted.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Log {
    folds: Folds,
    floods: [Flood; Group::COUNT],
    lines: Vec<Line>,
    now: Instant,
    next_look: Instant,
    /// Somebody listens, to anything at all.
    on: bool,
    /// Somebody wants to hear of each operation that fails.
    debug: bool,
    /// Somebody wants to hear of each operation.
    trace: bool,
}

impl Log {
    /// The beginning of a turn, without the lock: subscribers are asked what they want to hear.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.now = now;
        self.on = LevelFilter::current() != LevelFilter::OFF;
        self.debug = self.on && tracing::enabled!(target: SEND, Level::DEBUG);
        self.trace = self.debug && tracing::enabled!(target: SEND, Level::TRACE);
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.look(false);
        }
    }

    /// Takes note of an event, under the lock. One that a send succeeded costs nothing as long as nobody listens and none
    /// failed lately.
    pub(crate) fn note(&mut self, event: &Event) {
        if !self.on {
            return;
        }
        match event {
            Event::Sent { result, .. } => self.sent(result),
            Event::SendFailed { error, .. } => {
                self.send_failed(if error.message_id().is_empty() { "queues" } else { "send" }, error);
            }
            Event::RequestFailed { error, .. } => match error.request() {
                Err(failed) => self.send_failed("request", failed),
                Ok(_) => {
                    let unanswered = (Kind::named("no-reply"), Cause::Text("no reply came"));
                    let failure = Failure::new("request", error.topic(), error.message_id(), error.took());
                    self.failed(unanswered, failure, |tried, _| tried.push_str("stored, but no reply came"));
                }
            },
            Event::SendBackFailed { error, .. } => {
                let failure = Failure::new("send-back", error.topic(), error.message_id(), error.took());
                self.failed_once(of_back(error), failure);
            }
            Event::RecallFailed { error, .. } => {
                let failure = Failure::new("recall", error.topic(), error.message_id(), error.took());
                self.failed_once(of_recall(error), failure);
            }
            Event::EndTransactionFailed { error, .. } => {
                let (topic, id) = (error.topic(), error.message_id());
                let failure = Failure::new("transaction-end", topic, id, error.took());
                self.failed_once(of_end(error), failure);
            }
            notice => self.notice(notice),
        }
    }

    /// A question about a transaction had no listener.
    pub(crate) fn unheard(&mut self) {
        self.trouble(Key::Checks, Cause::Text("see Producer::transaction_checks"));
    }

    fn sent(&mut self, result: &SendResult) {
        if self.folds.sends > 0
            && let Some(tally) = self.folds.sent(self.now, &result.queue.topic)
        {
            let topic = result.queue.topic.clone();
            self.push(Line::SendsAgain { topic, tally });
        }
        if self.trace || (self.debug && result.attempts > 1) {
            self.lines.push(Line::Stored(Box::new(result.clone())));
        }
    }

    fn send_failed(&mut self, what: &'static str, error: &SendError) {
        let failure = Failure::new(what, error.topic(), error.message_id(), error.took());
        self.failed(of_send(error), failure, |tried, _| {
            let servers = match error.kind() {
                SendErrorKind::RouteUnavailable { servers } | SendErrorKind::TopicNotFound { servers } => {
                    servers
                }
                _ => &Vec::new(),
            };
            for server in servers {
                let _ = match &server.error {
                    Some(why) => write!(tried, "{}: {}; ", server.address, Quiet(why)),
                    None => write!(tried, "{}: no answer yet; ", server.address),
                };
            }
            let _ = write!(tried, "{}", Tried(error.attempts()));
        });
    }

    /// An operation whose last failure says all there is to say.
    fn failed_once(&mut self, why: (Kind, Cause), failure: Failure<'_>) {
        self.failed(why, failure, |tried, cause| {
            let _ = write!(tried, "{cause}");
        });
    }

    fn failed(
        &mut self,
        (kind, cause): (Kind, Cause),
        failure: Failure<'_>,
        tell: impl FnOnce(&mut String, &Cause),
    ) {
        let tried = self.debug.then(|| {
            let mut tried = String::new();
            tell(&mut tried, &cause);
            tried
        });
        let Failure { what, topic, .. } = failure;
        let is_it = |key: &Key| matches!(key, Key::Operation { what: a, topic: b, kind: c } if *a == what && **b == *topic && *c == kind);
        let key = || Key::Operation { what, topic: topic.into(), kind };
        if let Some(tally) = self.folds.fail(self.now, is_it, key, cause.clone()) {
            self.push(Line::Trouble { key: key(), cause, tally });
        }
        if let Some(tried) = tried {
            self.lines.push(failure.line(tried));
        }
    }

    /// An event that ends no operation.
    fn notice(&mut self, event: &Event) {
        match event {
            Event::ConnectionOpened { address } => {
                let was_trouble = self.well(Key::Connection(address.clone()));
                if !was_trouble {
                    self.push(Line::Connected(address.clone()));
                }
            }
            Event::ConnectionClosed { address, cause, opened, replaced } => {
                if *replaced || is_orderly(cause) {
                    if *opened {
                        self.push(Line::Closed(address.clone(), cause.clone()));
                    }
                } else {
                    self.trouble(Key::Connection(address.clone()), Cause::Closed(cause.clone(), *opened));
                }
            }
            Event::GoingAway { address } => self.push(Line::GoingAway(address.clone())),
            Event::HeartbeatRefused { address, code, .. } => {
                self.trouble(Key::Heartbeat(address.clone()), Cause::answered(*code));
            }
            Event::HeartbeatAccepted { address } => {
                self.well(Key::Heartbeat(address.clone()));
            }
            Event::RouteLearned { topic, brokers, queues, changed } => {
                let (topic, brokers, queues, changed) = (topic.clone(), *brokers, *queues, *changed);
                self.push(Line::RouteLearned { topic, brokers, queues, changed });
            }
            Event::RouteLost { topic, cause } => {
                self.push(Line::RouteLost { topic: topic.clone(), cause: *cause });
            }
            Event::NameServersFailed { servers, .. } => {
                let list: Vec<_> = servers.iter().map(|server| server.address.to_string()).collect();
                self.trouble(Key::NameServers, Cause::Addresses(list.join(";").into()));
            }
            Event::NameServersRecovered => {
                self.well(Key::NameServers);
            }
            Event::NameServerSwitched { to, .. } => self.trouble(Key::Switch, Cause::Address(to.clone())),
            Event::BrokerIsolated { broker, span, .. } => {
                self.trouble(Key::Broker(broker.clone()), Cause::Isolated(millis(*span)));
            }
            Event::BrokerRecovered { broker, .. } => {
                self.well(Key::Broker(broker.clone()));
            }
            Event::TraceFailed { error, .. } => self.trouble(Key::Trace, of_send(error).1),
            Event::ShutDown => self.lines.push(Line::ShutDown),
            _ => {}
        }
    }

    fn trouble(&mut self, key: Key, cause: Cause) {
        let tally = self.folds.fail(self.now, |known| *known == key, || key.clone(), cause.clone());
        if let Some(tally) = tally {
            self.push(Line::Trouble { key, cause, tally });
        }
    }

    /// Whether it had been a trouble.
    fn well(&mut self, key: Key) -> bool {
        let (was, tally) = self.folds.well(self.now, |known| *known == key);
        if let Some(tally) = tally {
            self.push(Line::Well { key, tally });
        }
        was
    }

    /// A line at INFO or above.
    fn push(&mut self, line: Line) {
        if self.floods[line.group() as usize].admits() {
            self.lines.push(line);
        }
    }

    fn look(&mut self, at_end: bool) {
        let Self { folds, floods, lines, now, .. } = self;
        for group in Group::ALL {
            let left_out = floods[group as usize].turn(*now, at_end);
            if left_out > 0 {
                lines.push(Line::LeftOut(group, left_out));
            }
        }
        if folds.is_empty() {
            return;
        }
        folds.look(*now, at_end, |Trouble { key, cause, .. }, tally| {
            let line = Line::Trouble { key: key.clone(), cause: cause.clone(), tally };
            if floods[line.group() as usize].admits() {
                lines.push(line);
            }
        });
    }

    /// Tells what was noted, without the lock.
    pub(crate) fn tell(&mut self, client_id: &str) {
        for line in self.lines.drain(..) {
            line.tell(client_id);
        }
    }

    /// Tells what was only counted: nothing comes any more.
    pub(crate) fn end(&mut self, client_id: &str) {
        self.look(true);
        guarded(|| self.tell(client_id));
    }
}

/// Whether a connection ended as this client meant it to.
const fn is_orderly(cause: &CloseCause) -> bool {
    use CloseCause::{GoneAway, Idle, Moved, ShutDown, Unlisted};
    matches!(cause, Idle { .. } | Moved | Unlisted | GoneAway | ShutDown)
}
