//! What many clients cost, and what many topics and brokers cost one client:
//!
//! `cargo run --release -p rmq-tokio --example scale -- clients [CLIENTS] [SECONDS]`: memory, threads and sockets of so many
//! clients in this process (1,000), and the CPU time that they take at rest for so long (60 s).
//!
//! `cargo run --release -p rmq-tokio --example scale -- topics [TOPICS] [BROKERS] [SECONDS]`: memory, CPU time at rest and CPU
//! time for each send with one topic on one broker, many topics (10,000), many brokers (100), and both. Every topic is on every
//! broker.
//!
//! The model runs as a process of its own, so that only clients are counted.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod clients;
#[path = "../bench/process.rs"]
mod process;
mod servers;
mod topics;

use std::error::Error;
use std::process::ExitCode;
use std::str::FromStr;

type Failure = Box<dyn Error + Send + Sync>;

const USAGE: &str = "usage: scale clients [CLIENTS] [SECONDS] | scale topics [TOPICS] [BROKERS] [SECONDS]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scale: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let (command, rest) = arguments.split_first().ok_or(USAGE)?;
    if command == servers::COMMAND {
        return servers::serve(number(rest, 0, 1)?, number(rest, 1, 1)?);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match command.as_str() {
        "clients" => runtime.block_on(clients::measure(number(rest, 0, 1_000)?, number(rest, 1, 60)?)),
        "topics" => {
            let (topics, brokers) = (number(rest, 0, 10_000)?, number(rest, 1, 100)?);
            runtime.block_on(topics::measure(topics, brokers, number(rest, 2, 60)?))
        }
        _ => Err(USAGE.into()),
    }
}

fn number<N: FromStr>(arguments: &[String], place: usize, default: N) -> Result<N, Failure> {
    match arguments.get(place) {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no number; {USAGE}").into()),
        None => Ok(default),
    }
}
