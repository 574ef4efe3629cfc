//! A server's address, and what is wrong there.

use std::sync::Arc;
use std::time::Duration;

use super::fault::Fault;
use crate::trace::Direction;

#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) address: Arc<str>,
    /// The faults that are on, each with its plan's number.
    pub(super) active: Vec<(u64, Fault)>,
}

impl Place {
    pub(super) fn new(address: &str) -> Self {
        Self { address: address.into(), active: Vec::new() }
    }

    fn any(&self, is: impl Fn(&Fault) -> bool) -> bool {
        self.active.iter().any(|(_, fault)| is(fault))
    }

    /// Whether the server's process is gone.
    pub(super) fn is_down(&self) -> bool {
        self.any(|fault| matches!(fault, Fault::Crash | Fault::Vanish))
    }

    pub(super) fn refuses(&self) -> bool {
        self.any(|fault| matches!(fault, Fault::Refuse | Fault::Crash))
    }

    pub(super) fn ignores_dials(&self) -> bool {
        self.any(|fault| matches!(fault, Fault::Blackhole))
            || self.stalls(Direction::ToServer)
            || self.stalls(Direction::ToClient)
    }

    /// Whether nothing arrives that goes this way.
    pub(super) fn stalls(&self, to: Direction) -> bool {
        self.any(|fault| match fault {
            Fault::Stall | Fault::Vanish => true,
            Fault::StallRequests => to == Direction::ToServer,
            Fault::StallAnswers => to == Direction::ToClient,
            _ => false,
        })
    }

    /// How much longer than usual a piece is on its way.
    pub(super) fn delay(&self, to: Direction) -> Duration {
        let delays = self.active.iter().map(|(_, fault)| match fault {
            Fault::Slow(by) => *by,
            Fault::SlowAnswers(by) if to == Direction::ToClient => *by,
            _ => Duration::ZERO,
        });
        delays.sum()
    }
}
