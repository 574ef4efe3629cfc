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

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use args::{Command, HELP, MUTATION_HELP};

fn main() -> ExitCode {
    let arguments: Result<Vec<_>, _> = std::env::args_os().skip(1).map(OsString::into_string).collect();
    let command = arguments.map_err(|argument| format!("{argument:?} is no text"));
    let command = match command.and_then(|arguments| args::parse(arguments.into_iter())) {
        Ok(command) => command,
        Err(problem) => return complain(&format!("{problem}; --help says what there is")),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let done = match command {
        Command::Help => write!(out, "{HELP}{MUTATION_HELP}").map(|()| true),
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
