//! Many runs.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use rmq_sim::run::RunReport;

use crate::args::{ENOUGH, Many};
use crate::progress::Progress;
use crate::summary::Summary;
use crate::{json, make, pool};

/// Characters that are printed of what an oracle says: it may name whole messages.
const DETAIL: usize = 2_000;

/// Whether no oracle failed.
pub(crate) fn run(options: &Many, out: &mut impl Write) -> io::Result<bool> {
    let Many { seeds, jobs, twice, json, keep_going } = options;
    let mut progress = Progress::new(seeds.end - seeds.start);
    let mut summary = Summary::default();
    pool::run(seeds.clone(), *jobs, *twice, |report| {
        summary.add(report);
        if *json {
            writeln!(out, "{}", json::run(report, *twice))?;
        } else if report.violation.is_some() {
            progress.clear();
            violation(out, report, *twice)?;
            writeln!(out)?;
            out.flush()?;
        }
        progress.show(summary.runs, summary.violations());
        let is_enough = summary.violations() >= ENOUGH && !keep_going;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    progress.clear();
    if *json {
        writeln!(out, "{}", json::summary(&summary, progress.elapsed()))?;
    } else {
        if summary.runs < seeds.end - seeds.start {
            writeln!(out, "stopped at violation {ENOUGH}; --keep-going goes on\n")?;
        }
        summary.write(out, progress.elapsed())?;
    }
    Ok(summary.violations() == 0)
}

/// What is wrong with a run, and how to see it.
pub(crate) fn violation(out: &mut impl Write, report: &RunReport, twice: bool) -> io::Result<()> {
    let Some((at, violation)) = &report.violation else { return Ok(()) };
    let at = Duration::from_micros(at.as_micros()).as_secs_f64();
    writeln!(out, "VIOLATION seed {}: {}, at {at:.6} s", report.seed, violation.oracle)?;
    let shown: String = violation.detail.chars().take(DETAIL).collect();
    shown.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
    if shown.len() < violation.detail.len() {
        writeln!(out, "  (and {} more bytes, which --json has)", violation.detail.len() - shown.len())?;
    }
    writeln!(out, "  replay: {}", make::replay(report.seed, twice))
}
