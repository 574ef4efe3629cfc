//! What a send costs in the core alone: nanoseconds, sends per second and allocations of one, a line of JSON each.
//!
//! `cargo bench -p rmq-core --bench round_trip [-- [PART_OF_A_NAME] [--once]]`. A send is all that the core does for one: the
//! message is accepted, its queue chosen, its timer armed, its frame made with those that go out with it, the answer decoded and
//! matched, and its end taken out. There is no I/O: a peer in memory puts answers together out of a template, copying each read
//! into fresh memory as `rmq-driver` does, which is part of the measurement.
//!
//! A name says the format of headers; how many sends wait for an answer; whether 32 answers come in one `read`, or `single`;
//! and, with `prepared`, that one prepared message is sent again and again, where it is made and prepared for each send else.
//! `--once` is one round of each, for a profiler.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

mod peer;
mod sender;

use std::time::Instant;

use rmq_core::proto::command::HeaderFormat;

use sender::{Made, Sender};

const FORMATS: [(HeaderFormat, &str); 2] = [(HeaderFormat::Json, "json"), (HeaderFormat::RocketMq, "binary")];

/// How many wait, and how many are answered in one read.
const SHAPES: [(usize, usize, &str); 5] = [
    (1, 1, "1-single"),
    (1_000, 1, "1000-single"),
    (1_000, 32, "1000-read"),
    (10_000, 1, "10000-single"),
    (10_000, 32, "10000-read"),
];

const ROUNDS: u32 = 40;

/// At least so many sends, in whole reads.
const SENDS: usize = 19_200;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-')).map_or("", String::as_str);
    let rounds = if arguments.iter().any(|argument| argument == "--once") { 1 } else { ROUNDS };
    for (format, label) in FORMATS {
        for (waiting, per_read, shape) in SHAPES {
            for (made, suffix) in [(Made::EachTime, ""), (Made::Once, "-prepared")] {
                let name = format!("{label}-{shape}{suffix}");
                if name.contains(wanted) {
                    measure(&name, rounds, &mut Sender::new(format, made, waiting, per_read));
                }
            }
        }
    }
}

fn measure(name: &str, rounds: u32, sender: &mut Sender) {
    sender.round(SENDS / 4);
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        sender.round(SENDS);
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / SENDS as f64);
    }
    let counted = allocation_counter::measure(|| sender.round(SENDS));
    let allocations = counted.count_total as f64 / SENDS as f64;
    let bytes = counted.bytes_total as f64 / SENDS as f64;
    let per_second = 1e9 / best;
    println!(
        r#"{{"peer":"rmq-core","name":"{name}","ns":{best:.1},"per_second":{per_second:.0},"allocations":{allocations:.2},"bytes":{bytes:.0}}}"#
    );
    sender.end();
}
