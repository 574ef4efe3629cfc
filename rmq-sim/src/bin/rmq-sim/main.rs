//! Runs of the simulation, made and looked at from the command line.

#![forbid(unsafe_code)]

mod args;
mod json;
mod make;
mod many;
mod one;
mod pool;
mod progress;
mod summary;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use args::{Command, HELP};

fn main() -> ExitCode {
    let command = match args::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(problem) => return complain(&format!("{problem}; --help says what there is")),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let done = match command {
        Command::Help => write!(out, "{HELP}").map(|()| true),
        Command::Version => writeln!(out, "rmq-sim {}", env!("CARGO_PKG_VERSION")).map(|()| true),
        Command::Many(options) => many::run(&options, &mut out),
        Command::One(options) => one::run(&options, &mut out),
    };
    match done.and_then(|is_well| out.flush().map(|()| is_well)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Who reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

fn complain(problem: &str) -> ExitCode {
    drop(writeln!(io::stderr(), "rmq-sim: {problem}"));
    ExitCode::from(2)
}
