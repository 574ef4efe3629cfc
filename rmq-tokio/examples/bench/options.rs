//! The command line.

use std::fmt::Display;
use std::str::FromStr;

pub(crate) const HELP: &str = "\
Measures a producer against any cluster: rate, latency, and the CPU time of this process.

Usage: bench [OPTIONS]

  --name-server A   host:port, or several joined by `;` (default 127.0.0.1:9876)
  --topic T         where to send; has to exist, or be created by brokers (default BenchTopic)
  --mode M          sync: wait for the broker's word; oneway: until the bytes are written (default sync)
  --in-flight N     tasks that send one message after the other (default 1); with --rate, the most at once (default 10000)
  --size N          bytes of a body (default 128)
  --count N         messages measured (default 100000)
  --seconds N       measure for so long, instead of --count
  --warmup N        messages before that (default 10000)
  --rate N          messages a second, begun at their time whatever came back; latency counts from then. What it takes to
                    keep time is no part of the CPU time told
  --runtime R       multi-thread, as #[tokio::main] has it, or current-thread (default multi-thread)
  --format F        text, or json: one line (default text)
  --stats-every N   a line each N seconds: messages, rate, failures, resident memory, and what the client holds
  --help            this

Values may be joined by `=`. The exit status is 1 if any message failed.
";

/// The most that a client takes by default.
const MOST_AT_ONCE: usize = 65_536;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Sync,
    Oneway,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuntimeKind {
    MultiThread,
    CurrentThread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) name_server: String,
    pub(crate) topic: String,
    pub(crate) mode: Mode,
    in_flight: Option<usize>,
    pub(crate) size: usize,
    count: u64,
    pub(crate) seconds: Option<u64>,
    pub(crate) warmup: u64,
    pub(crate) rate: Option<u64>,
    pub(crate) runtime: RuntimeKind,
    pub(crate) format: Format,
    pub(crate) stats_every: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name_server: "127.0.0.1:9876".into(),
            topic: "BenchTopic".into(),
            mode: Mode::Sync,
            in_flight: None,
            size: 128,
            count: 100_000,
            seconds: None,
            warmup: 10_000,
            rate: None,
            runtime: RuntimeKind::MultiThread,
            format: Format::Text,
            stats_every: None,
        }
    }
}

impl Options {
    /// Messages measured; with `--seconds`, as many as there is time for.
    pub(crate) fn count(&self) -> u64 {
        if self.seconds.is_some() { u64::MAX } else { self.count }
    }

    pub(crate) fn most_at_once(&self) -> usize {
        let default = if self.rate.is_some() { 10_000 } else { 1 };
        self.in_flight.unwrap_or(default)
    }

    pub(crate) fn mode_name(&self) -> &'static str {
        name_of(self.mode, &MODES)
    }

    pub(crate) fn runtime_name(&self) -> &'static str {
        name_of(self.runtime, &RUNTIMES)
    }
}

const MODES: [(&str, Mode); 2] = [("sync", Mode::Sync), ("oneway", Mode::Oneway)];
const RUNTIMES: [(&str, RuntimeKind); 2] =
    [("multi-thread", RuntimeKind::MultiThread), ("current-thread", RuntimeKind::CurrentThread)];
const FORMATS: [(&str, Format); 2] = [("text", Format::Text), ("json", Format::Json)];

fn name_of<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// None if help is wanted.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        if ["--help", "-h"].contains(&argument.as_str()) {
            return Ok(None);
        }
        let (name, joined) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (argument, None),
        };
        options.set(&name, joined.or_else(|| arguments.next()))?;
    }
    Ok(Some(options))
}

impl Options {
    fn set(&mut self, name: &str, value: Option<String>) -> Result<(), String> {
        let text = value.as_deref().filter(|value| !value.is_empty());
        match name {
            "--name-server" => self.name_server = text.ok_or("--name-server takes host:port")?.into(),
            "--topic" => self.topic = text.ok_or("--topic takes a topic's name")?.into(),
            "--mode" => self.mode = one_of(name, text, &MODES)?,
            "--in-flight" => self.in_flight = Some(number(name, text, 1, MOST_AT_ONCE)?),
            "--size" => self.size = number(name, text, 1, 4 << 20)?,
            "--count" => self.count = number(name, text, 1, u64::MAX)?,
            "--seconds" => self.seconds = Some(number(name, text, 1, 10_000_000)?),
            "--warmup" => self.warmup = number(name, text, 0, u64::MAX)?,
            "--rate" => self.rate = Some(number(name, text, 1, 10_000_000)?),
            "--runtime" => self.runtime = one_of(name, text, &RUNTIMES)?,
            "--format" => self.format = one_of(name, text, &FORMATS)?,
            "--stats-every" => self.stats_every = Some(number(name, text, 1, 86_400)?),
            _ => return Err(format!("`{name}` is not known")),
        }
        Ok(())
    }
}

fn one_of<T: Copy>(name: &str, text: Option<&str>, known: &[(&str, T)]) -> Result<T, String> {
    let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
    let found = text.and_then(|text| known.iter().find(|(name, _)| *name == text));
    let found =
        found.ok_or_else(|| format!("{name} takes {}, not `{}`", names.join(" or "), text.unwrap_or("")));
    found.map(|(_, value)| *value)
}

fn number<N: FromStr + PartialOrd + Display>(
    name: &str,
    text: Option<&str>,
    least: N,
    most: N,
) -> Result<N, String> {
    match text.and_then(|text| text.parse().ok()) {
        Some(number) if least <= number && number <= most => Ok(number),
        _ => Err(format!("{name} takes a number from {least} to {most}, not `{}`", text.unwrap_or(""))),
    }
}
