//! A seed decides everything.

use std::collections::BTreeSet;

use rmq_sim::run::{Run, RunOptions, RunReport};

fn run(seed: u64, recorded: bool) -> RunReport {
    let mut run = Run::new(RunOptions::draw(seed));
    if recorded {
        run.record();
    }
    run.finish()
}

/// Whether it is recorded makes no difference to a run.
#[test]
fn the_same_seed_is_the_same_run() {
    let mut hashes = BTreeSet::new();
    for seed in 0..50 {
        let first = run(seed, false);
        assert_eq!(first.violation, None, "seed {seed}");
        assert_eq!(run(seed, seed % 5 == 0), first);
        assert!(hashes.insert(first.hash), "seed {seed} is the same run as another");
    }
}
