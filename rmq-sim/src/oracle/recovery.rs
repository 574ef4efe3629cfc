//! What must hold once the faults are over.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use rmq_core::{CloseCause, CloseOnTimeout, Event, Instant, RequestError, SendError};
use rmq_proto::code::RequestCode;

use super::{Oracle, Seen};
use crate::model::{ModelEvent, PeerConn};
use crate::net::Network;
use crate::run::Operation;

/// Time after the faults in which everything has to be found again: brokers register each 30 s, routes are looked at each
/// 30 s and a tenth, and then something has to be asked.
pub(crate) const GRACE: Duration = Duration::from_secs(68);

/// Time that a send surely gets by with when nothing is wrong.
const AMPLE: Duration = Duration::from_secs(3);

/// After the faults, every send to a topic that exists succeeds.
#[derive(Debug)]
pub struct Recovers {
    rule: CloseOnTimeout,
    healed: Option<Instant>,
}

impl Recovers {
    pub(crate) const fn new(rule: CloseOnTimeout) -> Self {
        Self { rule, healed: None }
    }

    /// With Java's rule, a send that has less time than an answer takes closes the connection of its neighbours.
    fn is_neighbours_fault(&self, error: &SendError) -> bool {
        let is_cut =
            |error: &RequestError| matches!(error, RequestError::Closed { cause: CloseCause::Silent, .. });
        self.rule == CloseOnTimeout::Java && error.attempts().iter().any(|attempt| is_cut(&attempt.error))
    }

    fn must_succeed(&self, operation: &Operation) -> bool {
        self.healed.is_some_and(|healed| operation.accepted >= healed + GRACE)
            && operation.timeout >= AMPLE
            && operation.topic.starts_with("topic-")
    }
}

impl Oracle for Recovers {
    fn name(&self) -> &'static str {
        "recovers"
    }

    fn see(&mut self, at: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Healed => self.healed = Some(at),
            Seen::Ended { operation, event: Event::SendFailed { error, .. } }
                if self.must_succeed(operation) && !self.is_neighbours_fault(error) =>
            {
                return Err(format!("with nothing wrong any more, {operation:?} failed: {error}"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Time after which a topic that is not used is forgotten (600 s), and with it the need to tell its brokers, less the rest
/// of a run.
const IN_USE: Duration = Duration::from_secs(400);

/// A client that is connected to a broker, and sends, tells it of its groups, and goes on telling.
#[derive(Debug)]
pub struct Heartbeats {
    interval: Duration,
    open: BTreeMap<PeerConn, Open>,
    /// When each client last sent something.
    sent: BTreeMap<IpAddr, Instant>,
}

/// A connection to a broker.
#[derive(Debug)]
struct Open {
    client: IpAddr,
    /// When the last heartbeat came, or it was opened.
    last: Instant,
}

impl Heartbeats {
    pub(crate) const fn new(interval: Duration) -> Self {
        Self { interval, open: BTreeMap::new(), sent: BTreeMap::new() }
    }

    /// Whether the topics of a client are in use.
    fn sends(&self, client: IpAddr, now: Instant) -> bool {
        self.sent.get(&client).is_some_and(|sent| *sent + IN_USE > now)
    }
}

impl Oracle for Heartbeats {
    fn name(&self) -> &'static str {
        "heartbeats"
    }

    fn see(&mut self, at: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Served(ModelEvent::Connected { conn, peer, from }) if peer.starts_with("broker") => {
                self.open.insert(*conn, Open { client: from.ip(), last: at });
            }
            Seen::Served(ModelEvent::Disconnected { conn, .. }) => {
                self.open.remove(conn);
            }
            Seen::Served(ModelEvent::Requested { conn, code, send, .. }) => {
                let Some(open) = self.open.get_mut(conn) else { return Ok(()) };
                if *code == RequestCode::HEART_BEAT {
                    open.last = at;
                } else if send.is_some() {
                    self.sent.insert(open.client, at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rest(&mut self, network: &Network) -> Result<(), String> {
        let late = self.interval * 3 / 2 + Duration::from_secs(5);
        let now = network.now();
        let is_late = |open: &Open| open.last + late < now && self.sends(open.client, now);
        match self.open.iter().find(|(_, open)| is_late(open)) {
            Some((conn, Open { last, .. })) => Err(format!(
                "{conn} to a broker is open, and its last heartbeat came {:?} ago, where one is due each {:?}",
                now.saturating_since(*last),
                self.interval
            )),
            None => Ok(()),
        }
    }
}
