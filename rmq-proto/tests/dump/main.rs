//! What the example `dump` prints.

#[path = "../../examples/dump/dump/mod.rs"]
mod dump;

mod golden;
mod input;
mod output;
mod strict_json;
mod support;
