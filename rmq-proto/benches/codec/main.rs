//! What the codec costs: nanoseconds and allocations of one call, a line of JSON each.
//!
//! `cargo bench -p rmq-proto --bench codec [-- PART_OF_A_NAME]`. To decode means that every field is read into a typed value.
//! Input arrives in fresh memory each time, copying it included, unless a name says `reused`: then it is copied into a
//! read buffer that is used again, as a connection does it. BENCHMARKS.md has the results.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use std::hint::black_box;
use std::time::Instant;

mod bodies;
mod commands;
mod inputs;

fn main() {
    // Cargo adds `--bench`.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let bench = Bench { wanted };
    commands::run(&bench);
    bodies::run(&bench);
}

/// Measures what it is given, if that is wanted, and prints it.
struct Bench {
    wanted: String,
}

impl Bench {
    fn measure<T>(&self, name: &str, mut call: impl FnMut() -> T) {
        const CALLS: u32 = 10_000;
        const ROUNDS: u32 = 70;
        if !name.contains(&self.wanted) {
            return;
        }
        for _ in 0..CALLS / 10 {
            black_box(call());
        }
        let mut best = f64::MAX;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            for _ in 0..CALLS {
                black_box(call());
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
        }
        let counted = allocation_counter::measure(|| {
            for _ in 0..1_000 {
                black_box(call());
            }
        });
        let allocations = counted.count_total as f64 / 1_000.0;
        println!(r#"{{"peer":"rmq-proto","name":"{name}","ns":{best:.1},"allocations":{allocations:.2}}}"#);
    }
}
