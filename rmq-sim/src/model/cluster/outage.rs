//! Servers that go down and come back, and what name servers know of it.

use super::{Cluster, Place};
use crate::model::conn::PeerConn;

/// # Outages
///
/// Each server can go down and come back. Name servers learn of a broker when it starts, when it gets a topic, and at
/// [`register_brokers`](Self::register_brokers); they forget it when it stops, and at [`expire`](Self::expire).
/// [Faults](super::Fault) are between a server and its clients: brokers register all the same, and a server that comes
/// back has the faults that it had.
impl Cluster {
    /// The process at an address dies: its connections close, new ones are refused. Name servers see a broker's
    /// connection end and forget the broker and its queues; a topic without another broker is then unknown. A name
    /// server loses all that it knows.
    ///
    /// False when nobody has that address, or the server is down already.
    #[must_use = "at an address that nobody has nothing stops"]
    pub fn stop(&mut self, address: &str) -> bool {
        let Some(index) = self.go_down(address) else {
            return false;
        };
        for conn in self.open_at(index) {
            self.close(conn, None);
        }
        if let Place::Broker(broker) = self.place(index) {
            let name = self.brokers[broker].name();
            self.name_servers.iter_mut().for_each(|server| server.unregister_broker(name));
        }
        true
    }

    /// The host at an address is gone, as without power or cable: as [`stop`](Self::stop), but nobody is told. Clients'
    /// connections are not closed, only dead: what is written to them is lost until the server is back, and closes them
    /// then. Name servers keep the broker's routes until [`expire`](Self::expire).
    ///
    /// [`connect`](Self::connect) gives `None`; a network that knows the difference lets the attempt time out.
    ///
    /// False when nobody has that address, or the server is down already.
    #[must_use = "at an address that nobody has nothing vanishes"]
    pub fn vanish(&mut self, address: &str) -> bool {
        let Some(index) = self.go_down(address) else {
            return false;
        };
        for conn in self.open_at(index) {
            if let Some(link) = self.links.get_mut(&conn) {
                link.dead = true;
            }
            self.end(conn, index, None);
        }
        true
    }

    /// A server that was [stopped](Self::stop) or [vanished](Self::vanish) comes back. A broker has its topics and
    /// messages still, and registers at every name server that is up; a name server is empty, and hears of brokers at the
    /// next [`register_brokers`](Self::register_brokers).
    ///
    /// False when nobody has that address, or the server is up.
    #[must_use = "at an address that nobody has nothing starts"]
    pub fn start(&mut self, address: &str) -> bool {
        let Some(index) = self.peer_at(address).filter(|&index| !self.peer_is_up(index)) else {
            return false;
        };
        match self.place(index) {
            Place::NameServer(index) => self.name_servers[index].set_up(true),
            Place::Broker(index) => {
                self.brokers[index].set_up(true);
                self.brokers[index].register(&mut self.name_servers);
            }
        }
        true
    }

    /// The process at an address begins to shut down while another one takes its place, as behind a load balancer. What
    /// comes on the connections that are open is not carried out but answered GO_AWAY, if the servers are of a release that
    /// does so and the client of one that knows it (wire §9.4); new ones are served.
    /// [`end_drain`](Self::end_drain) ends it. [`Fault::GoAway`](super::super::Fault::GoAway) spares no connection.
    ///
    /// False when nobody has that address, or the server is down.
    #[must_use = "at an address that nobody has nothing drains"]
    pub fn drain(&mut self, address: &str) -> bool {
        let Some(index) = self.peer_at(address).filter(|&index| self.peer_is_up(index)) else {
            return false;
        };
        self.links.values_mut().filter(|link| link.peer == index).for_each(|link| link.leaving = true);
        true
    }

    /// The process that [drains](Self::drain) ends, and closes the connections that its clients have not left.
    pub fn end_drain(&mut self, address: &str) {
        let open = self.peer_at(address).map(|index| self.open_at(index));
        for conn in open.into_iter().flatten() {
            if self.links.get(&conn).is_some_and(|link| link.leaving) {
                self.close(conn, None);
            }
        }
    }

    /// Whether there is a server at an address that is up.
    pub fn is_up(&self, address: &str) -> bool {
        self.peer_at(address).is_some_and(|index| self.peer_is_up(index))
    }

    /// Every broker that is up registers its topics at every name server that is up, as real ones do each 30 s.
    pub fn register_brokers(&mut self) {
        for broker in &self.brokers {
            broker.register(&mut self.name_servers);
        }
    }

    /// Every name server forgets the broker at an address, as real ones do when it has not registered for 120 s: after it
    /// [vanished](Self::vanish), or as if it could not reach them. One that is up is known again at the next
    /// [`register_brokers`](Self::register_brokers), or with a new topic.
    ///
    /// False when no broker has that address.
    #[must_use = "at an address that no broker has nothing expires"]
    pub fn expire(&mut self, address: &str) -> bool {
        let Some(Place::Broker(index)) = self.peer_at(address).map(|index| self.place(index)) else {
            return false;
        };
        let name = self.brokers[index].name();
        self.name_servers.iter_mut().for_each(|server| server.unregister_broker(name));
        true
    }

    /// The peer that has gone down by this.
    fn go_down(&mut self, address: &str) -> Option<usize> {
        let index = self.peer_at(address).filter(|&index| self.peer_is_up(index))?;
        match self.place(index) {
            Place::NameServer(index) => self.name_servers[index].set_up(false),
            Place::Broker(index) => self.brokers[index].set_up(false),
        }
        Some(index)
    }

    pub(super) fn peer_is_up(&self, index: usize) -> bool {
        match self.place(index) {
            Place::NameServer(index) => self.name_servers[index].is_up(),
            Place::Broker(index) => self.brokers[index].is_up(),
        }
    }

    pub(super) fn open_at(&self, index: usize) -> Vec<PeerConn> {
        let open = self.links.iter().filter(|(_, link)| link.peer == index && !link.dead);
        open.map(|(&conn, _)| conn).collect()
    }
}
