//! A producer's rate, latency and CPU against any cluster: `cargo run --release -p rmq-tokio --example bench -- --help`.
//!
//! Without `--rate` so many tasks send one message after the other (a closed loop). With it messages have a time to begin at,
//! whatever came back, and their latency counts from that time on: a stall is in the latency of all that it held up.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod closed;
mod load;
mod open;
mod options;
mod process;
mod report;
mod watch;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use load::{Load, Tally, Until};
use options::{Options, RuntimeKind};
use report::Report;
use rmq_tokio::Client;
use tokio::runtime::Builder;

type Failure = Box<dyn Error + Send + Sync>;

/// Tasks that send the first messages of an open loop, unless there are to be fewer.
const WARMUP_TASKS: usize = 32;

fn main() -> ExitCode {
    let options = match options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{}", options::HELP.trim_end());
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("bench: {problem}; --help says what there is");
            return ExitCode::from(2);
        }
    };
    let mut builder = match options.runtime {
        RuntimeKind::MultiThread => Builder::new_multi_thread(),
        RuntimeKind::CurrentThread => Builder::new_current_thread(),
    };
    let outcome = builder.enable_all().build().map_err(Failure::from);
    match outcome.and_then(|runtime| runtime.block_on(run(options))) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<ExitCode, Failure> {
    let client = Client::builder().name_server(&options.name_server).start()?;
    let load = Arc::new(Load::new(client.producer("bench")?, &options));
    load.send().await.map_err(|error| cannot_begin(&options, &error))?;
    warm_up(&load, &options).await?;

    let watch = watch::start(&client, &options);
    let (cpu, loop_before, began) = (process::cpu_time(), client.driver_stats(), Instant::now());
    let deadline = options.seconds.map(|seconds| began + Duration::from_secs(seconds));
    let until = Until { count: options.count(), deadline };
    let tally = match options.rate {
        Some(rate) => open::run(&load, until, rate, options.most_at_once()).await?,
        None => closed::run(&load, until, options.most_at_once()).await?,
    };
    let took = began.elapsed();
    let cpu = cpu.zip(process::cpu_time()).map(|(from, to)| to.saturating_sub(from + tally.pacing));
    drop(watch);

    let report = Report { took, cpu, looped: client.driver_stats().since(loop_before), tally };
    print!("{}", report.show(&options));
    let failed = report.tally.fails;
    if let Some(first) = load.first_failure().filter(|_| failed > 0) {
        eprintln!("bench: {failed} messages failed, the first with: {first}");
    }
    client.shutdown().await?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn warm_up(load: &Arc<Load>, options: &Options) -> Result<(), Failure> {
    let tasks = if options.rate.is_some() { WARMUP_TASKS } else { options.most_at_once() };
    let until = Until { count: options.warmup, deadline: None };
    let Tally { fails, .. } = closed::run(load, until, tasks.min(options.most_at_once())).await?;
    match load.first_failure() {
        Some(first) => Err(format!("{fails} messages of the warm-up failed, the first with: {first}").into()),
        None => Ok(()),
    }
}

fn cannot_begin(options: &Options, error: &rmq_tokio::Error) -> String {
    let Options { name_server, topic, .. } = options;
    format!(
        "the first message to topic {topic} by name server {name_server} failed: {error}\n\
         A name server has to listen there (--name-server), its brokers have to be up and reachable from here, and the topic \
         has to exist (--topic), unless brokers create it. A broker to try this with: \
         cargo run --release -p rmq-sim --bin rmq-model-broker -- --quiet"
    )
}
