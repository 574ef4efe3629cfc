//! Making runs, and what is wrong with them.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

use rmq_core::Instant;
use rmq_sim::oracle::Violation;
use rmq_sim::run::{Run, RunOptions, RunReport};
use rmq_sim::trace::Entry;

/// Nothing panics.
const NO_PANIC: &str = "no-panic";
/// A seed decides everything.
const SAME_RUN: &str = "same-seed-same-run";

/// A run that is over. `run` is missing if it could not even begin.
pub(crate) struct Made {
    pub(crate) report: RunReport,
    pub(crate) run: Option<Run>,
}

/// Makes the run of a seed.
pub(crate) fn make(seed: u64, record: bool) -> Made {
    make_of(RunOptions::draw(seed), record)
}

/// Makes it once more; its clients read in other pieces.
pub(crate) fn make_again(seed: u64, record: bool) -> Made {
    make_of(RunOptions::draw(seed).in_other_pieces(), record)
}

/// That a run panics is a violation, too.
fn make_of(options: RunOptions, record: bool) -> Made {
    let seed = options.seed;
    let begun = panic::catch_unwind(|| {
        let mut run = Run::new(options);
        if record {
            run.record();
        }
        run
    });
    match begun {
        Err(panicked) => Made { report: after_panic(seed, None, &*panicked), run: None },
        Ok(mut run) => {
            let finished = panic::catch_unwind(AssertUnwindSafe(|| run.finish()));
            let report = finished.unwrap_or_else(|panicked| after_panic(seed, Some(&run), &*panicked));
            Made { report, run: Some(run) }
        }
    }
}

/// Makes a run, twice if `twice`.
pub(crate) fn report(seed: u64, twice: bool) -> RunReport {
    let first = make(seed, false).report;
    if twice { compared(first, &make_again(seed, false)) } else { first }
}

/// The report of a run, with a violation if another of the same seed was different.
pub(crate) fn compared(mut report: RunReport, again: &Made) -> RunReport {
    if report.violation.is_none() && report != again.report {
        let detail = format!("one run has hash {:016x}, the next {:016x}", report.hash, again.report.hash);
        let now = again.run.as_ref().map_or(Instant::ZERO, |run| run.network().now());
        report.violation = Some((now, Violation::new(SAME_RUN, detail)));
    }
    report
}

/// The first entries that two recorded runs do not have in common.
pub(crate) fn difference<'a>(one: &'a Made, other: &'a Made) -> Option<[Option<&'a Entry>; 2]> {
    let mut entries = [one, other].map(|made| made.run.iter().flat_map(|run| run.trace().entries()));
    loop {
        let [one, other] = entries.each_mut().map(Iterator::next);
        if one != other {
            return Some([one, other]);
        }
        one?;
    }
}

fn after_panic(seed: u64, run: Option<&Run>, panicked: &(dyn Any + Send)) -> RunReport {
    let text = panicked.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panicked.downcast_ref::<String>().cloned());
    let now = run.map_or(Instant::ZERO, |run| run.network().now());
    let mut report = RunReport::default();
    report.seed = seed;
    report.hash = run.map_or(0, |run| run.trace().hash());
    report.time = now.saturating_since(Instant::ZERO);
    report.violation = Some((now, Violation::new(NO_PANIC, text.unwrap_or_else(|| "no message".to_owned()))));
    report
}

/// The command that makes the run again and shows it.
pub(crate) fn replay(seed: u64, twice: bool) -> String {
    let rustflags = if cfg!(rmq_mutate) { "RUSTFLAGS=\"--cfg rmq_mutate\" " } else { "" };
    let release = if cfg!(debug_assertions) { "" } else { " --release" };
    let twice = if twice { " --twice" } else { "" };
    let target = if cfg!(rmq_mutate) { " --target-dir target/mutate" } else { "" };
    let mutation = mutation();
    format!(
        "{rustflags}cargo run{release}{target} -p rmq-sim --bin rmq-sim -- --seed {seed} --trace{twice}{mutation}"
    )
}

#[cfg(rmq_mutate)]
fn mutation() -> String {
    use rmq_core::mutate::{self, Mutation};
    let on = Mutation::ALL.iter().find(|mutation| mutate::is(**mutation));
    on.map_or_else(String::new, |mutation| format!(" --mutation {}", mutation.name()))
}

#[cfg(not(rmq_mutate))]
const fn mutation() -> &'static str {
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_differ_are_a_violation() {
        let (one, other) = (make(4, true), make(5, true));
        let differs = compared(one.report.clone(), &other).violation.map(|(_, violation)| violation.oracle);
        assert_eq!(differs, Some(SAME_RUN));
        let [left, right] = difference(&one, &other).expect("they differ");
        assert_ne!(left, right);
        let again = make_again(4, true);
        assert_eq!(difference(&one, &again), None);
        assert_eq!(compared(one.report, &again).violation, None);
    }

    #[test]
    fn a_panic_is_a_violation() {
        let report = after_panic(3, None, &"out of range");
        assert_eq!(report.seed, 3);
        assert_eq!(report.violation, Some((Instant::ZERO, Violation::new(NO_PANIC, "out of range"))));
    }
}
