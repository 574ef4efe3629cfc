//! A seed decides everything.

use std::collections::BTreeSet;
use std::ops::Range;

use rmq_sim::run::{Run, RunOptions, RunReport};

fn run(seed: u64, recorded: bool) -> RunReport {
    let mut run = Run::new(RunOptions::draw(seed));
    if recorded {
        run.record();
    }
    run.finish()
}

/// Whether it is recorded makes no difference to a run.
fn assert_repeats(seeds: Range<u64>) {
    let mut hashes = BTreeSet::new();
    for seed in seeds {
        let first = run(seed, false);
        assert_eq!(first.violation, None, "seed {seed}");
        assert_eq!(run(seed, seed % 5 == 0), first);
        assert!(hashes.insert(first.hash), "seed {seed} is the same run as another");
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    assert_repeats(0..25);
}

/// A test of its own, so that they run side by side.
#[test]
fn the_same_seed_is_the_same_run_again() {
    assert_repeats(25..50);
}
