//! What must hold once the faults are over.

use std::collections::BTreeMap;
use std::time::Duration;

use rmq_core::{Event, Instant};
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
#[derive(Debug, Default)]
pub struct Recovers {
    healed: Option<Instant>,
}

impl Recovers {
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
                if self.must_succeed(operation) =>
            {
                return Err(format!("with nothing wrong any more, {operation:?} failed: {error}"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// A client that is connected to a broker tells it of its groups, and goes on telling.
#[derive(Debug)]
pub struct Heartbeats {
    pub(crate) interval: Duration,
    /// Of each open connection to a broker: when it opened, or the last heartbeat came.
    last: BTreeMap<PeerConn, Instant>,
}

impl Heartbeats {
    pub(crate) const fn new(interval: Duration) -> Self {
        Self { interval, last: BTreeMap::new() }
    }
}

impl Oracle for Heartbeats {
    fn name(&self) -> &'static str {
        "heartbeats"
    }

    fn see(&mut self, at: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Served(ModelEvent::Connected { conn, peer, .. }) if peer.starts_with("broker") => {
                self.last.insert(*conn, at);
            }
            Seen::Served(ModelEvent::Disconnected { conn, .. }) => {
                self.last.remove(conn);
            }
            Seen::Served(ModelEvent::Requested { conn, code: RequestCode::HEART_BEAT, .. }) => {
                self.last.insert(*conn, at);
            }
            _ => {}
        }
        Ok(())
    }

    fn rest(&mut self, network: &Network) -> Result<(), String> {
        let late = self.interval * 3 / 2 + Duration::from_secs(5);
        let now = network.now();
        match self.last.iter().find(|(_, last)| **last + late < now) {
            Some((conn, last)) => Err(format!(
                "{conn} to a broker is open, and its last heartbeat came {:?} ago, where one is due each {:?}",
                now.saturating_since(*last),
                self.interval
            )),
            None => Ok(()),
        }
    }
}
