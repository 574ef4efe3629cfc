//! Scripts of any bytes keep every promise.

use rmq_sim::run::script::Script;
use rmq_sim::run::{Run, RunReport};
use rmq_sim::Rng;

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
    for seed in 0..300 {
        let report = run(&bytes(seed));
        if let Some((at, violation)) = report.violation {
            panic!("script {seed}, at {at:?}: {violation}");
        }
        operations += report.operations;
        for (name, count) in report.faults {
            *faults.entry(name).or_default() += count;
        }
    }
    assert!(operations > 300 * 10, "{operations} operations");
    assert_eq!(faults.len(), 19, "every kind of fault: {faults:?}");
}

#[test]
fn a_script_is_always_the_same_run() {
    for seed in 0..20 {
        assert_eq!(run(&bytes(seed)), run(&bytes(seed)));
    }
}
