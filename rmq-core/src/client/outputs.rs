//! What waits to be polled, in order.

use alloc::collections::VecDeque;

use crate::address::Address;
use crate::event::Event;
use crate::io::ConnId;
use crate::link::LinkId;

#[derive(Clone, Debug)]
pub(super) enum Item {
    Connect {
        conn: ConnId,
        address: Address,
    },
    /// A marker: the bytes are made when it is popped.
    Write {
        conn: ConnId,
        link: LinkId,
    },
    Close {
        conn: ConnId,
    },
    /// Ends an operation that accepted so many bytes; its place was reserved when it was accepted.
    Terminal {
        event: Event,
        bytes: usize,
    },
    Notice(Event),
}

/// Bounded: one connect, one write marker and one close per connection, one terminal event per accepted operation, and
/// so many notices as the limit allows.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    items: VecDeque<Item>,
    notices: usize,
    terminals: usize,
    max_notices: usize,
}

impl Outputs {
    pub(super) const fn new(max_notices: usize) -> Self {
        Self { items: VecDeque::new(), notices: 0, terminals: 0, max_notices }
    }

    pub(super) fn push(&mut self, item: Item) {
        self.items.push_back(item);
    }

    /// The end of an operation.
    #[inline]
    pub(super) fn push_terminal(&mut self, event: Event, bytes: usize) {
        self.terminals += 1;
        self.items.push_back(Item::Terminal { event, bytes });
    }

    /// False when there is no room for it.
    pub(super) fn push_notice(&mut self, event: Event) -> bool {
        if self.notices >= self.max_notices {
            return false;
        }
        self.notices += 1;
        self.items.push_back(Item::Notice(event));
        true
    }

    /// The last event of all; there is always room for it.
    pub(super) fn push_shut_down(&mut self, event: Event) {
        self.notices += 1;
        self.items.push_back(Item::Notice(event));
    }

    /// Events that end operations and wait to be polled.
    pub(super) fn terminals(&self) -> usize {
        self.terminals
    }

    pub(super) fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        match item {
            Item::Terminal { .. } => self.terminals -= 1,
            Item::Notice(_) => self.notices -= 1,
            Item::Connect { .. } | Item::Write { .. } | Item::Close { .. } => {}
        }
        Some(item)
    }

    /// Forgets a connection. True when its driver knows it, so that it has to be told to close it.
    pub(super) fn forget(&mut self, conn: ConnId) -> bool {
        let mut known = true;
        self.items.retain(|item| match item {
            Item::Connect { conn: of, .. } if *of == conn => {
                known = false;
                false
            }
            Item::Write { conn: of, .. } => *of != conn,
            _ => true,
        });
        known
    }
}
