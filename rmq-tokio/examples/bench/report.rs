//! The result, as a person or a program reads it.

use std::fmt::Write;
use std::time::Duration;

use rmq_tokio::DriverStats;

use crate::load::Tally;
use crate::options::{Format, Options};
use crate::process;

pub(crate) struct Report {
    pub(crate) took: Duration,
    pub(crate) cpu: Option<Duration>,
    /// What the client's loop did.
    pub(crate) looped: DriverStats,
    pub(crate) tally: Tally,
}

const PERCENTILES: [(&str, f64); 5] =
    [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p999", 99.9), ("max", 100.0)];

impl Report {
    pub(crate) fn show(&self, options: &Options) -> String {
        match options.format {
            Format::Text => self.text(options),
            Format::Json => self.json(options),
        }
    }

    fn messages(&self) -> u64 {
        self.tally.latency.len()
    }

    fn rate(&self) -> f64 {
        self.messages() as f64 / self.took.as_secs_f64()
    }

    /// Microseconds.
    fn cpu_per_message(&self) -> Option<f64> {
        self.cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / self.messages() as f64)
    }

    fn loop_per_message(&self) -> [(&'static str, f64); 6] {
        let DriverStats { turns, polls, wakes, reads, writes, timers, .. } = self.looped;
        [
            ("turns", turns),
            ("polls", polls),
            ("wakes", wakes),
            ("reads", reads),
            ("writes", writes),
            ("timers", timers),
        ]
        .map(|(name, count)| (name, count as f64 / self.messages() as f64))
    }

    fn latency_us(&self, percentile: f64) -> f64 {
        self.tally.latency.value_at_quantile(percentile / 100.0) as f64 / 1e3
    }

    fn json(&self, options: &Options) -> String {
        let mut line = format!(
            r#"{{"peer":"ours","mode":"{}","conc":{},"size":{},"n":{},"fails":{},"tps":{:.0},"cpu_us_per_msg":{}"#,
            options.mode_name(),
            options.most_at_once(),
            options.size,
            self.messages(),
            self.tally.fails,
            self.rate(),
            self.cpu_per_message().map_or_else(|| "null".into(), |us| format!("{us:.3}")),
        );
        for (name, percentile) in PERCENTILES {
            let _ = write!(line, r#","{name}_us":{:.1}"#, self.latency_us(percentile));
        }
        if let Some(rate) = options.rate {
            let late = self.tally.lateness.value_at_quantile(0.99) as f64 / 1e3;
            let _ = write!(line, r#","rate":{rate},"late_p99_us":{late:.1}"#);
        }
        for (name, count) in self.loop_per_message() {
            let _ = write!(line, r#","{name}_per_msg":{count:.4}"#);
        }
        let rss = process::resident_kib().map_or_else(|| "null".into(), |kib| kib.to_string());
        let (runtime, seconds) = (options.runtime_name(), self.took.as_secs_f64());
        let _ = writeln!(line, r#","runtime":"{runtime}","seconds":{seconds:.3},"rss_kib":{rss}}}"#);
        line
    }

    fn text(&self, options: &Options) -> String {
        let (messages, fails, seconds) = (self.messages(), self.tally.fails, self.took.as_secs_f64());
        let (mode, at_once, size) = (options.mode_name(), options.most_at_once(), options.size);
        let (runtime, rate) = (options.runtime_name(), self.rate());
        let mut text = match options.rate {
            Some(wanted) => format!("{mode}, {wanted} a second, {size} B, {runtime}\n"),
            None => format!("{mode}, {at_once} in flight, {size} B, {runtime}\n"),
        };
        let _ = writeln!(text, "messages  {messages} in {seconds:.2} s, {fails} of them failed");
        let _ = writeln!(text, "rate      {rate:.0} messages a second");
        if let Some(us) = self.cpu_per_message() {
            let _ = writeln!(text, "CPU       {us:.2} us a message");
        }
        let latencies = PERCENTILES.map(|(name, percentile)| {
            let name = if name == "p999" { "p99.9" } else { name };
            format!("{name} {:.1}", self.latency_us(percentile))
        });
        let _ = writeln!(text, "latency   {} us", latencies.join(", "));
        if options.rate.is_some() {
            let late = |quantile| self.tally.lateness.value_at_quantile(quantile) as f64 / 1e3;
            let _ = writeln!(
                text,
                "begun late by p50 {:.1}, p99 {:.1} us, which is in the latency",
                late(0.5),
                late(0.99)
            );
        }
        let looped = self.loop_per_message().map(|(name, count)| format!("{count:.3} {name}"));
        let _ = writeln!(text, "loop      {} a message", looped.join(", "));
        if let Some(kib) = process::resident_kib() {
            let _ = writeln!(text, "memory    {kib} KiB resident");
        }
        text
    }
}
