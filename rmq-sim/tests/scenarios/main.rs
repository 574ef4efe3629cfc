//! Scripted situations: clients on a network with faults, and what their users and the servers see of it.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod clock;
mod healing;
mod memory;
mod outage;
mod repeat;
mod scripts;
mod suspended;
mod world;
