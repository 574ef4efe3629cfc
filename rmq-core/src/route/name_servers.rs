//! The list of name servers and the one in use (producer §2).

use alloc::vec::Vec;

use crate::address::Address;
use crate::rng::Rng;

/// One server is asked first until it fails; then the next in the list takes its place.
#[derive(Clone, Debug)]
pub(crate) struct NameServers {
    list: Vec<Address>,
    current: usize,
    /// None answered the last question for a route.
    pub(crate) failing: bool,
}

impl NameServers {
    /// The order is drawn once, so that the clients of a fleet spread over the servers.
    pub(crate) fn new(mut list: Vec<Address>, rng: &mut Rng) -> Self {
        list.sort();
        list.dedup();
        rng.shuffle(&mut list);
        Self { list, current: 0, failing: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn contains(&self, address: &Address) -> bool {
        self.list.contains(address)
    }

    /// All servers, the one in use first.
    pub(crate) fn in_order(&self) -> Vec<Address> {
        let (before, from) = self.list.split_at(self.current);
        from.iter().chain(before).cloned().collect()
    }

    /// Takes another list, in an order drawn anew; the server in use stays in use if it is in it. Returns the servers that
    /// are gone; `None` when the list holds the same ones.
    pub(crate) fn replace(&mut self, mut list: Vec<Address>, rng: &mut Rng) -> Option<Vec<Address>> {
        list.sort();
        list.dedup();
        if list.len() == self.list.len() && list.iter().all(|address| self.contains(address)) {
            return None;
        }
        rng.shuffle(&mut list);
        let in_use = self.list.get(self.current);
        self.current = in_use.and_then(|used| list.iter().position(|address| address == used)).unwrap_or(0);
        let before = core::mem::replace(&mut self.list, list);
        Some(before.into_iter().filter(|address| !self.contains(address)).collect())
    }

    /// Moves on if `address` is the one in use; returns which is in use now, if it is another one.
    pub(crate) fn rotate_from(&mut self, address: &Address) -> Option<&Address> {
        if self.list.get(self.current) != Some(address) || self.list.len() < 2 {
            return None;
        }
        self.current = (self.current + 1) % self.list.len();
        self.list.get(self.current)
    }
}
