//! Scripted situations: clients on a network with faults, and what their users and the servers see of it.

mod clock;
mod healing;
mod memory;
mod outage;
mod repeat;
mod suspended;
mod world;
