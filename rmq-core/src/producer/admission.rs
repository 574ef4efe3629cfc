//! How many sends of a producer may be under way, and the line of those that wait (producer §5.8).

use alloc::collections::BTreeMap;

use crate::config::InFlight;
use crate::event::OpId;

/// What a send has of its producer's permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Permit {
    /// It needs none.
    #[default]
    Unneeded,
    /// It waits, in this place of the line.
    InLine(u64),
    /// For one message of so many bytes.
    Held(usize),
}

/// The permits of one producer. Whoever came first goes first, however small those behind are: nobody waits for ever.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admission {
    messages: usize,
    bytes: usize,
    line: BTreeMap<u64, (OpId, usize)>,
}

impl Admission {
    /// Whether a message of so many bytes may go at once. One that is too long for any limit goes when it is alone.
    pub(crate) fn has_room(&self, limit: &InFlight, bytes: usize) -> bool {
        self.line.is_empty() && self.fits(limit, bytes)
    }

    fn fits(&self, limit: &InFlight, bytes: usize) -> bool {
        self.messages == 0
            || (self.messages < limit.messages() && self.bytes.saturating_add(bytes) <= limit.bytes())
    }

    pub(crate) fn take(&mut self, bytes: usize) -> Permit {
        self.messages += 1;
        self.bytes += bytes;
        Permit::Held(bytes)
    }

    /// Gives up a permit, or a place in the line.
    pub(crate) fn release(&mut self, permit: Permit) {
        match permit {
            Permit::Unneeded => {}
            Permit::InLine(place) => {
                self.line.remove(&place);
            }
            Permit::Held(bytes) => {
                self.messages -= 1;
                self.bytes -= bytes;
            }
        }
    }

    pub(crate) fn stand_in_line(&mut self, place: u64, op: OpId, bytes: usize) -> Permit {
        self.line.insert(place, (op, bytes));
        Permit::InLine(place)
    }

    /// The first in line.
    pub(crate) fn first(&self) -> Option<OpId> {
        self.line.first_key_value().map(|(_, (op, _))| *op)
    }

    /// Gives a permit to the first in line, if there is room for it.
    pub(crate) fn admit_first(&mut self, limit: &InFlight) -> Option<(OpId, Permit)> {
        let (place, (op, bytes)) = self.line.first_key_value().map(|(place, next)| (*place, *next))?;
        if !self.fits(limit, bytes) {
            return None;
        }
        self.line.remove(&place);
        Some((op, self.take(bytes)))
    }

    /// Messages under way, and their bytes.
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.messages, self.bytes)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.line.len()
    }
}
