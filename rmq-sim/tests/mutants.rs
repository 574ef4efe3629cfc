//! Each oracle can fail: with a deliberate bug in the core or the model, it is that oracle that finds it.

#![cfg(rmq_mutate)]

use rmq_core::mutate::{self, Mutation};
use rmq_sim::run::{Run, RunOptions};

/// Seeds in which a bug has to be found.
const SEEDS: u64 = 2_000;

/// Each bug, and the oracle that finds it.
const EXPECTED: [(Mutation, &str); 22] = [
    (Mutation::AcknowledgeWhenWritten, "one-terminal-event"),
    (Mutation::ReuseOpaque, "unique-opaque"),
    (Mutation::ForgetPermit, "within-limits"),
    (Mutation::RetryPastBudget, "within-policy"),
    (Mutation::PickTriedBroker, "untried-first"),
    (Mutation::PickIsolatedBroker, "isolated-left-alone"),
    (Mutation::KeepClosedRequests, "closed-is-told"),
    (Mutation::DropPartialFrame, "peers-are-understood"),
    (Mutation::LeakConnection, "within-limits"),
    (Mutation::SpinOnDeadline, "no-spin"),
    (Mutation::EndTwice, "one-terminal-event"),
    (Mutation::RetryWithFreshKey, "stored-was-sent"),
    (Mutation::ClaimNotStored, "stored-was-sent"),
    (Mutation::WriteWithoutCredit, "one-write"),
    (Mutation::StopReconnecting, "recovers"),
    (Mutation::ForgetHeartbeats, "heartbeats"),
    (Mutation::OverrunDeadline, "within-policy"),
    (Mutation::LoseTimer, "within-policy"),
    (Mutation::RetryDeadLetters, "within-policy"),
    (Mutation::ModelForgetsBacks, "sent-back-is-kept"),
    (Mutation::ModelStoresNothing, "acknowledged-is-stored"),
    (Mutation::ModelStoresTwice, "stored-was-sent"),
];

/// The first seed at which this oracle fails, and how many others failed before it.
fn first_found(oracle: &str) -> Option<(u64, u64)> {
    let mut others = 0;
    for seed in 0..SEEDS {
        match Run::new(RunOptions::draw(seed)).finish().violation {
            Some((_, violation)) if violation.oracle == oracle => return Some((seed, others)),
            Some(_) => others += 1,
            None => {}
        }
    }
    None
}

/// The first seed whose run differs when clients read in other pieces.
fn first_differing() -> Option<u64> {
    (0..SEEDS).find(|&seed| {
        let options = RunOptions::draw(seed);
        let again = options.clone().in_other_pieces();
        Run::new(options).finish().hash != Run::new(again).finish().hash
    })
}

/// In one test: a bug is on for the whole process.
#[test]
fn each_bug_is_found_by_its_oracle() {
    let mut missed = Vec::new();
    for (mutation, oracle) in EXPECTED {
        mutate::set(Some(mutation));
        match first_found(oracle) {
            Some((seed, others)) => {
                println!(
                    "{}: found by {oracle} at seed {seed}, by others at {others} before",
                    mutation.name()
                );
            }
            None => missed.push((mutation.name(), oracle)),
        }
    }
    mutate::set(Some(Mutation::DrawPerRead));
    match first_differing() {
        Some(seed) => println!("draw-per-read: the run of seed {seed} differs when read in other pieces"),
        None => missed.push(("draw-per-read", "reading in other pieces")),
    }
    mutate::set(None);
    assert_eq!(missed, [], "bugs that their oracle did not find within {SEEDS} seeds");
    assert_eq!(EXPECTED.len() + 1, Mutation::ALL.len(), "each bug has an oracle");
}
