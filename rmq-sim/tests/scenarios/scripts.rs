//! Scripts of any bytes keep every promise.

use std::time::Duration;

use rmq_sim::Rng;
use rmq_sim::run::script::{Action, Script};
use rmq_sim::run::{Run, RunReport};

fn run(bytes: &[u8]) -> RunReport {
    let Script { options, actions } = Script::decode(bytes);
    Run::scripted(options, actions).finish()
}

fn bytes(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let len = rng.index(300);
    (0..len).map(|_| rng.next_u64() as u8).collect()
}

#[test]
fn random_scripts_keep_every_promise() {
    let (mut operations, mut faults) = (0, std::collections::BTreeMap::<_, u64>::new());
    for seed in 0..100 {
        let report = run(&bytes(seed));
        if let Some((at, violation)) = report.violation {
            panic!("script {seed}, at {at:?}: {violation}");
        }
        operations += report.operations;
        for (name, count) in report.faults {
            *faults.entry(name).or_default() += count;
        }
    }
    assert!(operations > 100 * 10, "{operations} operations");
    assert_eq!(faults.len(), 21, "every kind of fault: {faults:?}");
}

/// What the fuzz target starts from, and what it found.
#[test]
fn the_seeds_of_the_fuzz_target_keep_every_promise() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/world");
    let seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(seeds.len() > 20, "{seeds:?}");
    for seed in seeds {
        let report = run(&std::fs::read(&seed).unwrap());
        assert_eq!(report.violation, None, "{}", seed.display());
    }
}

#[test]
fn a_script_is_always_the_same_run() {
    for seed in 0..8 {
        assert_eq!(run(&bytes(seed)), run(&bytes(seed)));
    }
}

/// What a client was asked for before its process stood still is done when it goes on.
#[test]
fn a_client_that_is_suspended_with_work_does_it_later() {
    let Script { options, .. } = Script::decode(&[]);
    let send = Action::Send { client: 0, topic: 0, body_len: 0, timeout: None, oneway: false, count: 1 };
    let suspend = Action::Suspend { client: 0, time: Duration::from_secs(2) };
    let report = Run::scripted(options, [(Duration::ZERO, send), (Duration::ZERO, suspend)]).finish();
    assert_eq!((report.violation, report.operations - report.ends["failed"]), (None, report.ends["sent"]));
}
