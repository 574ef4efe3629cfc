//! What must hold of connections, as their client tells of them.

use std::collections::BTreeMap;

use rmq_core::{Address, Attempt, CloseCause, Event, Instant};

use super::{Oracle, Seen};
use crate::net::Network;
use crate::run::Operation;

/// Closings of a connection that are remembered for each client and address.
const KEPT: usize = 64;

/// When a connection ends, every attempt that waits on it fails at once. Where a server has sent its client away, two
/// connections lead to it, and nobody says which one an attempt waits on: such attempts are not judged.
#[derive(Debug, Default)]
pub struct ClosedIsTold {
    closed: BTreeMap<(u32, Address), Vec<Instant>>,
    draining: BTreeMap<(u32, Address), Draining>,
}

/// The connections of a client to an address whose place another one took.
#[derive(Clone, Copy, Debug, Default)]
struct Draining {
    open: usize,
    /// When the last one ended.
    until: Instant,
}

impl ClosedIsTold {
    fn closed(&mut self, client: u32, address: &Address, at: Instant) {
        let times = self.closed.entry((client, address.clone())).or_default();
        if times.len() == KEPT {
            times.remove(0);
        }
        times.push(at);
    }

    fn check(&self, operation: &Operation, attempt: &Attempt) -> Result<(), String> {
        let Some(address) = &attempt.address else { return Ok(()) };
        let began = operation.accepted + attempt.began;
        let ended = began + attempt.took;
        let draining = self.draining.get(&(operation.client, address.clone()));
        if draining.is_some_and(|draining| draining.open > 0 || draining.until >= began) {
            return Ok(());
        }
        let times = self.closed.get(&(operation.client, address.clone()));
        match times.into_iter().flatten().find(|closed| began < **closed && **closed < ended) {
            None => Ok(()),
            Some(closed) => Err(format!(
                "{operation:?} waited at {address} from {began:?} to {ended:?}, where the connection ended at {closed:?}: \
                 {attempt}"
            )),
        }
    }
}

impl Oracle for ClosedIsTold {
    fn name(&self) -> &'static str {
        "closed-is-told"
    }

    fn see(&mut self, at: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Told { client, event: Event::GoingAway { address } } => {
                self.draining.entry((client, address.clone())).or_default().open += 1;
                Ok(())
            }
            Seen::Told { client, event: Event::ConnectionClosed { address, replaced: true, .. } } => {
                let draining = self.draining.entry((client, address.clone())).or_default();
                draining.open = draining.open.saturating_sub(1);
                draining.until = at;
                Ok(())
            }
            Seen::Told { client, event: Event::ConnectionClosed { address, .. } } => {
                self.closed(client, address, at);
                Ok(())
            }
            Seen::Ended { operation, event: Event::SendFailed { error, .. } } => {
                error.attempts().iter().try_for_each(|attempt| self.check(operation, attempt))
            }
            _ => Ok(()),
        }
    }
}

/// No client finds fault with what servers write: here they break no rule.
#[derive(Debug, Default)]
pub struct PeersAreUnderstood;

impl Oracle for PeersAreUnderstood {
    fn name(&self) -> &'static str {
        "peers-are-understood"
    }

    fn see(&mut self, _: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Told {
                client,
                event:
                    Event::ConnectionClosed {
                        address,
                        cause: cause @ (CloseCause::Frame(_) | CloseCause::Header(_)),
                        ..
                    },
            } => Err(format!("c{client} closed the connection to {address}: {cause}")),
            _ => Ok(()),
        }
    }
}
