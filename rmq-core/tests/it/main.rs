//! What must hold of the client, from the outside: scripted peers, a virtual clock.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod cases;
mod contract;
mod going_away;
mod hard_cases;
mod in_flight;
mod life_cycle;
mod limits;
mod name_servers;
mod outages;
mod producer_rows;
mod send_back;
mod support;
