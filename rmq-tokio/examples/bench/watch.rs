//! What is told while messages are measured. It costs them nothing: the client counts anyway.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use rmq_tokio::Client;
use rmq_tokio::rmq_core::Stats;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::options::{Format, Options};
use crate::process;

const BAR: usize = 40;

/// Ends with the measurement.
pub(crate) struct Watch {
    task: Option<JoinHandle<()>>,
    bar: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        if self.bar {
            eprint!("\r{:width$}\r", "", width = BAR + 40);
        }
    }
}

pub(crate) fn start(client: &Client, options: &Options) -> Watch {
    let bar =
        options.stats_every.is_none() && options.format == Format::Text && std::io::stderr().is_terminal();
    let period = match options.stats_every {
        Some(seconds) => Duration::from_secs(seconds),
        None if bar => Duration::from_millis(200),
        None => return Watch { task: None, bar },
    };
    Watch { task: Some(tokio::spawn(watch(client.clone(), options.clone(), period))), bar }
}

async fn watch(client: Client, options: Options, period: Duration) {
    let (began, before) = (Instant::now(), client.stats());
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    let mut last = (began, 0);
    loop {
        ticks.tick().await;
        let (now, stats) = (Instant::now(), client.stats());
        let errors = stats.sends_failed - before.sends_failed;
        let done = stats.sends_succeeded - before.sends_succeeded + errors;
        let rate = (done - last.1) as f64 / (now - last.0).as_secs_f64();
        last = (now, done);
        let passed = now - began;
        match options.format {
            Format::Text if options.stats_every.is_none() => draw(&options, passed, done, rate),
            Format::Text => println!("{}", text(passed, done, rate, errors, &stats)),
            Format::Json => println!("{}", json(passed, done, rate, errors, &stats)),
        }
    }
}

fn draw(options: &Options, passed: Duration, done: u64, rate: f64) {
    let part = match options.seconds {
        Some(seconds) => passed.as_secs_f64() / seconds as f64,
        None => done as f64 / options.count() as f64,
    };
    let full = ((part * BAR as f64) as usize).min(BAR);
    eprint!(
        "\r[{}{}] {:3.0} %  {rate:.0} a second   ",
        "#".repeat(full),
        " ".repeat(BAR - full),
        part.min(1.0) * 100.0
    );
}

fn gauges(stats: &Stats) -> [(&'static str, usize); 20] {
    [
        ("operations", stats.operations),
        ("operation_bytes", stats.operation_bytes),
        ("operation_timers", stats.operation_timers),
        ("timers", stats.timers),
        ("queued", stats.queued),
        ("awaited", stats.awaited),
        ("connections", stats.connections),
        ("links", stats.links),
        ("draining", stats.draining),
        ("topics", stats.topics),
        ("producers", stats.producers),
        ("permits", stats.permits),
        ("in_line", stats.in_line),
        ("fault_items", stats.fault_items),
        ("gathered", stats.gathered),
        ("auto_batches", stats.auto_batches),
        ("requests_waiting", stats.requests_waiting),
        ("open_checks", stats.open_checks),
        ("traces_waiting", stats.traces_waiting),
        ("trace_sends", stats.trace_sends),
    ]
}

fn text(passed: Duration, done: u64, rate: f64, errors: u64, stats: &Stats) -> String {
    let seconds = passed.as_secs_f64();
    let mut line = format!("{seconds:.0} s: {done} messages, {rate:.0} a second, {errors} failed");
    if let Some(kib) = process::resident_kib() {
        let _ = write!(line, ", {kib} KiB");
    }
    for (name, value) in gauges(stats).into_iter().filter(|(_, value)| *value > 0) {
        let _ = write!(line, ", {name} {value}");
    }
    line
}

fn json(passed: Duration, done: u64, rate: f64, errors: u64, stats: &Stats) -> String {
    let (seconds, rss) = (passed.as_secs_f64(), process::resident_kib());
    let rss = rss.map_or_else(|| "null".into(), |kib| kib.to_string());
    let mut line =
        format!(r#"{{"seconds":{seconds:.1},"done":{done},"tps":{rate:.0},"fails":{errors},"rss_kib":{rss}"#);
    for (name, value) in gauges(stats) {
        let _ = write!(line, r#","{name}":{value}"#);
    }
    line.push('}');
    line
}
