//! What the command line says.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;

use rmq_core::Instant;

/// What `--help` says.
pub(crate) const HELP: &str = "\
Clients, servers and faults that a seed decides, watched by oracles. The same seed gives the same run.

Usage: rmq-sim --seeds A..B [OPTIONS]    many runs, from seed A to seed B-1; --seeds N is the one seed N
       rmq-sim --seed N [OPTIONS]        one run, to be looked at

  --twice            make each run twice, the second time with reads of other sizes, and compare them
                     (oracle same-seed-same-run)
  --json             print for machines, see below
  --help, --version  print this, or the version

Many runs:
  --jobs N           threads (default: one per core); what comes out is the same for any number of them
  --keep-going       do not stop at the tenth violation

One run:
  --trace            print what happened, a line per event, after a legend of the lines
  --svg FILE         draw it: clients and servers as lines, frames as arrows, faults as bands
  --from SECONDS     draw nothing earlier, in the run's time
  --to SECONDS       draw nothing later
                     Without these two a picture has the whole run if that is at most 200 events, else the last 200
                     up to the violation, else the first 200. It has at most 5000, and says which.

Exit status: 0 all is well; 1 an oracle failed; 2 the arguments are bad, or something could not be written.

--json prints one object per run and line, in the order of the seeds, and after many runs a line {\"summary\": {...}}:
  seed, hash (16 hex digits, covers everything that happened), time_us (virtual), operations, rejected, turns, requests,
  ends {name: count}, faults {name: count}, violation: null or {oracle, detail, at_us, replay}
  summary: runs, violations, hash, time_us (virtual), elapsed_ms (real), operations, rejected, requests, ends, faults
";

/// What `--help` says besides, in a build with deliberate bugs.
pub(crate) const MUTATION_HELP: &str = if cfg!(rmq_mutate) {
    "\n--mutation NAME turns a deliberate bug on; another name lists them all.\n"
} else {
    ""
};

/// Violations after which many runs stop.
pub(crate) const ENOUGH: u64 = 10;

/// Seeds are numbers of JSON, too.
const MOST: u64 = i64::MAX as u64;

pub(crate) enum Command {
    Help,
    Version,
    Many(Many),
    One(One),
}

/// Many runs.
pub(crate) struct Many {
    pub(crate) seeds: Range<u64>,
    pub(crate) twice: bool,
    pub(crate) json: bool,
    pub(crate) jobs: usize,
    pub(crate) keep_going: bool,
}

/// One run.
pub(crate) struct One {
    pub(crate) seed: u64,
    pub(crate) twice: bool,
    pub(crate) json: bool,
    pub(crate) trace: bool,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) from: Option<Instant>,
    pub(crate) to: Option<Instant>,
}

/// Everything, before it is known what belongs together.
#[derive(Default)]
struct Given {
    seeds: Option<Range<u64>>,
    seed: Option<u64>,
    twice: bool,
    json: bool,
    jobs: Option<usize>,
    keep_going: bool,
    trace: bool,
    svg: Option<PathBuf>,
    from: Option<Instant>,
    to: Option<Instant>,
}

pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Command, String> {
    let mut given = Given::default();
    while let Some(argument) = arguments.next() {
        let (name, joined) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let flag = match name {
            "--twice" | "--json" | "--keep-going" | "--trace" | "--help" | "-h" | "--version" => true,
            "--seeds" | "--seed" | "--jobs" | "--svg" | "--from" | "--to" => false,
            "--mutation" if cfg!(rmq_mutate) => false,
            _ => return Err(format!("`{argument}` is not known")),
        };
        if flag && joined.is_some() {
            return Err(format!("{name} takes no value"));
        }
        match name {
            "--help" | "-h" => return Ok(Command::Help),
            "--version" => return Ok(Command::Version),
            "--twice" => given.twice = true,
            "--json" => given.json = true,
            "--keep-going" => given.keep_going = true,
            "--trace" => given.trace = true,
            _ => {
                let value = joined.or_else(|| arguments.next());
                given.set(name, &value.ok_or_else(|| format!("{name} takes a value"))?)?;
            }
        }
    }
    given.command()
}

impl Given {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "--seeds" => self.seeds = Some(seeds(value)?),
            "--seed" => self.seed = Some(number(name, value, 0, MOST)?),
            "--jobs" => self.jobs = Some(number(name, value, 1, 1_024)?),
            "--svg" => self.svg = Some(value.into()),
            "--from" => self.from = Some(seconds(name, value)?),
            "--to" => self.to = Some(seconds(name, value)?),
            _ => mutate(value)?,
        }
        Ok(())
    }

    fn command(self) -> Result<Command, String> {
        let Self { twice, json, .. } = self;
        let (from, to) = (self.from, self.to);
        match (self.seeds, self.seed) {
            (None, None) => Err("say --seeds or --seed".to_owned()),
            (Some(_), Some(_)) => Err("--seeds and --seed do not go together".to_owned()),
            (Some(_), None) if self.trace || self.svg.is_some() => {
                Err("--trace and --svg need one run, --seed".to_owned())
            }
            (None, Some(_)) if self.jobs.is_some() || self.keep_going => {
                Err("--jobs and --keep-going need many runs, --seeds".to_owned())
            }
            _ if self.svg.is_none() && (from.is_some() || to.is_some()) => {
                Err("--from and --to need --svg".to_owned())
            }
            _ if from.zip(to).is_some_and(|(from, to)| from > to) => {
                Err("--from is later than --to".to_owned())
            }
            _ if json && self.trace => Err("--json and --trace do not go together".to_owned()),
            (Some(seeds), None) => {
                let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
                let jobs = self.jobs.unwrap_or(cores);
                Ok(Command::Many(Many { seeds, twice, json, jobs, keep_going: self.keep_going }))
            }
            (None, Some(seed)) => {
                Ok(Command::One(One { seed, twice, json, trace: self.trace, svg: self.svg, from, to }))
            }
        }
    }
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let name = "--seeds";
    let Some((start, end)) = text.split_once("..") else {
        let seed = number(name, text, 0, MOST)?;
        return Ok(seed..seed + 1);
    };
    let seeds = number(name, start, 0, MOST)?..number(name, end, 0, MOST)?;
    if seeds.is_empty() {
        return Err(format!("{name} {text} has no seeds: the second number is to be the greater"));
    }
    Ok(seeds)
}

fn number<N: FromStr + PartialOrd + Display>(name: &str, text: &str, least: N, most: N) -> Result<N, String> {
    match text.parse() {
        Ok(number) if least <= number && number <= most => Ok(number),
        _ => Err(format!("{name} takes numbers from {least} to {most}, not `{text}`")),
    }
}

fn seconds(name: &str, text: &str) -> Result<Instant, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => {
            Ok(Instant::from_micros((seconds * 1e6).round() as u64))
        }
        _ => Err(format!("{name} takes seconds, such as 12.5, not `{text}`")),
    }
}

#[cfg(rmq_mutate)]
fn mutate(name: &str) -> Result<(), String> {
    use rmq_core::mutate::{self, Mutation};
    let Some(mutation) = Mutation::named(name) else {
        let names: Vec<_> = Mutation::ALL.iter().map(|mutation| mutation.name()).collect();
        return Err(format!("--mutation takes one of {}, not `{name}`", names.join(", ")));
    };
    mutate::set(Some(mutation));
    Ok(())
}

#[cfg(not(rmq_mutate))]
fn mutate(_: &str) -> Result<(), String> {
    Err("there are no deliberate bugs in this build".to_owned())
}
