//! What must hold of the client, from the outside: scripted peers, a virtual clock.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod acl;
mod at_zero;
mod auto_batches;
mod auto_batches_storm;
mod batches;
mod cases;
mod cases_clients;
mod cases_sends;
mod contract;
mod going_away;
mod hard_cases;
mod hooks;
mod in_flight;
mod life_cycle;
mod limits;
mod name_servers;
mod namespaces;
mod notices;
mod outages;
mod producer_rows;
mod recall;
mod requests;
mod send_back;
mod support;
mod trace;
mod transactions;
