//! The model on loopback, as a program: a name server and brokers for tests by hand and by other languages' clients.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;
use std::thread;

use rmq_proto::sign::Credentials;
use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::{Broker, ClusterConfig, User};

const HELP: &str = "\
A model of RocketMQ's name server and brokers on 127.0.0.1, for tests. It is not RocketMQ.

Usage: rmq-model-broker [OPTIONS]

  --port N           name server's port; brokers listen on N+1, N+2, ... (default 9876; 0: any free ports)
  --brokers K        how many brokers, 1 to 100 (default 1)
  --profile RELEASE  behave like 4.9 or 5.3 (default 5.3)
  --retain N         messages that each broker keeps (default 10000)
  --user KEY:SECRET  control access, and let this user do everything; may be given several times
  --no-auto-create   sending to an unknown topic does not create it
  --quiet            print the addresses only, no events
  --help             print this

It runs until it is ended, and forgets everything then.
";

/// What the command line says.
struct Options {
    cluster: ClusterConfig,
    quiet: bool,
    help: bool,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            complain(&format!("{problem}; --help says what there is"));
            return ExitCode::from(2);
        }
    };
    if options.help {
        say(HELP.trim_end());
        return ExitCode::SUCCESS;
    }
    let mut config = ServerConfig { cluster: options.cluster, watcher: None };
    if !options.quiet {
        config.watcher = Some(Box::new(|event| say(&event.to_string())));
    }
    match Server::start(config) {
        Ok(server) => serve(&server),
        Err(error) => {
            complain(&format!("{error}; choose another with --port"));
            ExitCode::FAILURE
        }
    }
}

fn serve(server: &Server) -> ExitCode {
    let line = |broker: &Broker| format!("{}: {}", broker.name(), broker.address());
    let (profile, brokers) = server.cluster(|cluster| {
        let brokers: Vec<_> = cluster.brokers().iter().map(line).collect();
        (cluster.config().profile, brokers)
    });
    say(&format!(
        "model of RocketMQ {profile}; name server: {}; {}",
        server.name_server(),
        brokers.join("; ")
    ));
    loop {
        thread::park();
    }
}

/// A reader that went away is no reason to stop serving.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}

fn complain(problem: &str) {
    drop(writeln!(io::stderr(), "rmq-model-broker: {problem}"));
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { cluster: ClusterConfig::default(), quiet: false, help: false };
    while let Some(argument) = arguments.next() {
        let (name, joined) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let flag = match name {
            "--no-auto-create" | "--quiet" | "--help" | "-h" => true,
            "--port" | "--brokers" | "--profile" | "--retain" | "--user" => false,
            _ => return Err(format!("`{argument}` is not known")),
        };
        if flag && joined.is_some() {
            return Err(format!("{name} takes no value"));
        }
        let value = if flag { None } else { joined.or_else(|| arguments.next()) };
        let cluster = &mut options.cluster;
        match name {
            "--port" => cluster.port = number(name, value, 0, u16::MAX)?,
            "--brokers" => cluster.brokers = number(name, value, 1, 100)?,
            "--retain" => cluster.retain = number(name, value, 0, usize::MAX)?,
            "--profile" => {
                let text = value.ok_or("--profile takes a value, 4.9 or 5.3")?;
                cluster.profile = text.parse().map_err(|error| format!("--profile: {error}"))?;
            }
            "--user" => cluster.users.push(user(value.as_deref())?),
            "--no-auto-create" => cluster.auto_create = false,
            "--quiet" => options.quiet = true,
            _ => options.help = true,
        }
    }
    Ok(options)
}

fn user(value: Option<&str>) -> Result<User, String> {
    let parts = value.and_then(|text| text.split_once(':')).ok_or("--user takes KEY:SECRET")?;
    let credentials = Credentials::new(parts.0, parts.1).map_err(|error| format!("--user: {error}"))?;
    Ok(User::admin(credentials))
}

fn number<N>(name: &str, value: Option<String>, least: N, most: N) -> Result<N, String>
where
    N: FromStr + PartialOrd + std::fmt::Display,
{
    let wanted = format!("{name} takes a number from {least} to {most}");
    let Some(text) = value else { return Err(wanted) };
    match text.parse() {
        Ok(number) if least <= number && number <= most => Ok(number),
        _ => Err(format!("{wanted}, not `{text}`")),
    }
}
