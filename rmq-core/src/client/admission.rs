//! Permits of sends: taken, waited for and given back.

use super::{Client, Effect};
use crate::config::{InFlight, ProducerConfig};
use crate::error::RejectReason;
use crate::event::{OpId, ProducerId};
use crate::producer::{Permit, SendOp, Step};

impl Client {
    /// Refuses a message that may not wait and would have to.
    pub(super) fn admit_at_once(
        &self,
        producer: ProducerId,
        config: &ProducerConfig,
        bytes: usize,
    ) -> Result<(), RejectReason> {
        let Some(limit) = &config.in_flight else { return Ok(()) };
        let Some(admission) = self.producers.admission(producer) else { return Ok(()) };
        if admission.has_room(limit, bytes) {
            return Ok(());
        }
        let (messages, bytes) = admission.held();
        Err(RejectReason::NoPermit { messages, bytes })
    }

    /// Lets a send begin, or wait in line.
    pub(super) fn admit(&mut self, op: OpId) {
        let place = self.next_serial + 1;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let limit = if send.needs_permit() { send.config.in_flight } else { None };
        if let Some(limit) = limit
            && let Some(admission) = self.producers.admission_mut(send.producer)
        {
            let bytes = send.bytes();
            if !admission.has_room(&limit, bytes) {
                send.permit = admission.stand_in_line(place, op, bytes);
                send.step = Step::InLine;
                self.next_serial = place;
                return self.arm_send(op, None);
            }
            send.permit = admission.take(bytes);
        }
        debug_assert!(self.effects.is_empty(), "each call carries its orders out");
        self.proceed(op);
    }

    /// Takes the permit of a message that waits for others to go out with; there is room for it.
    pub(super) fn take_permit(&mut self, send: &mut SendOp) {
        if send.config.in_flight.is_some()
            && let Some(admission) = self.producers.admission_mut(send.producer)
        {
            send.permit = admission.take(send.bytes());
        }
    }

    /// A request that a broker has is under way no longer, though its reply is waited for.
    pub(super) fn release_sent(&mut self, OpId(op): OpId) {
        let Some(send) = self.sends.get_mut(op) else { return };
        let (producer, limit, permit) =
            (send.producer, send.config.in_flight, core::mem::take(&mut send.permit));
        self.give_back(producer, limit, permit);
    }

    /// Gives back what a send had, and lets in those that there is room for now.
    pub(super) fn give_back(&mut self, producer: ProducerId, limit: Option<InFlight>, permit: Permit) {
        let Some(limit) = limit.filter(|_| permit != Permit::Unneeded) else { return };
        let Some(admission) = self.producers.admission_mut(producer) else { return };
        admission.release(permit);
        // Whoever's time is over just now was not let in, and its timer says so.
        while let Some(next) = admission.first().and_then(|op| self.sends.get_mut(op.0))
            && next.deadline > self.now
            && let Some((op, permit)) = admission.admit_first(&limit)
        {
            next.permit = permit;
            next.step = Step::Resolve;
            self.effects.push_back(Effect::Proceed(op));
        }
    }
}
