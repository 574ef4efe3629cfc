//! A process in a world, as the network sees it.

use std::fmt;
use std::sync::OnceLock;

use rmq_core::{Address, Identity};

use super::{Connecting, World};
use crate::trace::Happening;

/// One client's process in a [`World`]: its number, its chance and its connections. For those who bring a runtime of
/// their own into a world; [`Sim`](super::Sim) has one inside.
///
/// A clone is another process, with a number of its own.
pub struct Host {
    world: World,
    known_as: OnceLock<KnownAs>,
}

struct KnownAs {
    number: u32,
    seed: u64,
}

impl Host {
    pub(super) const fn new(world: World) -> Self {
        Self { world, known_as: OnceLock::new() }
    }

    /// The world it is in.
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Its number, which traces show: hosts are counted as they are first used.
    pub fn number(&self) -> u32 {
        self.known_as().number
    }

    /// A number for all random choices of its client, out of the world's seed.
    pub fn seed(&self) -> u64 {
        self.known_as().seed
    }

    /// Who it is to the servers.
    pub fn identity(&self) -> Identity {
        Identity { ip: [10, 0, 0, 1].into(), pid: self.number() }
    }

    /// Dials an address. Names are not resolved: servers are known by the addresses that the model says.
    pub fn connect(&self, address: &Address) -> Connecting {
        Connecting::new(self.world.clone(), self.number(), address.to_string())
    }

    fn known_as(&self) -> &KnownAs {
        self.known_as.get_or_init(|| {
            self.world.with(|state, _| {
                let number = state.hosts;
                state.hosts += 1;
                state.network.note(Happening::Started { client: number });
                KnownAs { number, seed: state.rng.next_u64() }
            })
        })
    }
}

impl Clone for Host {
    fn clone(&self) -> Self {
        Self::new(self.world.clone())
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.known_as.get().map(|known_as| known_as.number);
        f.debug_struct("Host").field("number", &number).finish_non_exhaustive()
    }
}
