//! Another list of name servers (producer §2.2).

use alloc::vec::Vec;

use super::Client;
use crate::address::Address;
use crate::config::ConfigError;
use crate::error::CloseCause;
use crate::time::Instant;

impl Client {
    /// Takes another list of name servers; true if it holds others than those known, in whatever order. Java:
    /// `updateNameServerAddressList`.
    ///
    /// The server in use stays in use if it is in the list. The connections to those that are not are closed, unless a broker is
    /// there, too; questions that wait for them go on to the servers of the new list that they were not put to yet.
    ///
    /// # Errors
    ///
    /// An empty list, which changes nothing; a client that is shut down.
    pub fn set_name_servers(&mut self, now: Instant, servers: Vec<Address>) -> Result<bool, ConfigError> {
        self.advance(now);
        if !self.lifecycle.accepts() {
            return Err(ConfigError::ShutDown);
        }
        if servers.is_empty() {
            return Err(ConfigError::NoNameServer);
        }
        let Some(gone) = self.name_servers.replace(servers, &mut self.rng) else { return Ok(false) };
        let servers = self.name_servers.in_order();
        let now = self.now;
        for id in self.routes.ids() {
            let Some(query) = self.routes.get_mut(id).and_then(|topic| topic.query.as_mut()) else {
                continue;
            };
            if query.relist(now, &servers) {
                self.ask_server(id);
            } else {
                self.rearm_query(id);
            }
        }
        gone.iter().for_each(|address| self.name_server_gone(address));
        self.settle();
        Ok(true)
    }

    fn name_server_gone(&mut self, address: &Address) {
        let Some(id) = self.link_by_address.get(address).copied() else { return };
        if !self.brokers.is_master(address) {
            self.break_link(id, CloseCause::Unlisted, true);
        }
        self.rearm_link(id);
        self.forget_link_if_spare(id);
    }
}
