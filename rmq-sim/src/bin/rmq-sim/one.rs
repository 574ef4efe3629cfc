//! One run, to be looked at.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use rmq_sim::net::Network;
use rmq_sim::run::{Run, RunReport};
use rmq_sim::trace::{LEGEND, Picture};

use crate::args::One;
use crate::make::{self, Made};
use crate::{json, many};

/// Whether no oracle failed.
pub(crate) fn run(options: &One, out: &mut impl Write) -> io::Result<bool> {
    let record = options.trace || options.svg.is_some();
    let mut made = make::make(options.seed, record);
    let again = options.twice.then(|| make::make_again(options.seed, record));
    if let Some(again) = &again {
        made.report = make::compared(made.report, again);
    }
    if options.trace {
        trace(&made, out)?;
    }
    if let (Some(file), Some(run)) = (&options.svg, &made.run) {
        draw(options, run, file)?;
    }
    if options.json {
        writeln!(out, "{}", json::run(&made.report, options.twice))?;
    } else {
        report(&made.report, options.twice, out)?;
        if let Some(difference) = again.as_ref().and_then(|again| make::difference(&made, again)) {
            writeln!(out, "the first difference:")?;
            for entry in difference {
                writeln!(out, "  {}", entry.map_or_else(|| "nothing".to_owned(), ToString::to_string))?;
            }
        }
    }
    Ok(made.report.violation.is_none())
}

fn trace(made: &Made, out: &mut impl Write) -> io::Result<()> {
    let Some(run) = &made.run else { return Ok(()) };
    writeln!(out, "{LEGEND}\n")?;
    if run.trace().lost() > 0 {
        writeln!(out, "(the first {} entries were not kept)", run.trace().lost())?;
    }
    run.trace().entries().try_for_each(|entry| writeln!(out, "{entry}"))?;
    writeln!(out)
}

fn draw(options: &One, run: &Run, file: &Path) -> io::Result<()> {
    let picture = Picture {
        title: format!("Seed {}", options.seed),
        servers: servers(run.network()),
        from: options.from,
        to: options.to,
    };
    let svg = picture.draw(run.trace().entries());
    fs::write(file, svg).map_err(|error| io::Error::other(format!("{}: {error}", file.display())))
}

fn servers(network: &Network) -> Vec<(Arc<str>, String)> {
    let cluster = network.cluster();
    let brokers: BTreeMap<_, _> =
        cluster.brokers().iter().map(|broker| (broker.address().to_string(), broker.name())).collect();
    let name = |(index, address): (usize, &Arc<str>)| match brokers.get(&**address) {
        Some(name) => (address.clone(), (*name).to_owned()),
        None => (address.clone(), format!("name server {index}")),
    };
    network.addresses().enumerate().map(name).collect()
}

fn report(report: &RunReport, twice: bool, out: &mut impl Write) -> io::Result<()> {
    let counts = |counts: &BTreeMap<&'static str, u64>| {
        let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
    };
    writeln!(out, "seed {}, hash {:016x}", report.seed, report.hash)?;
    writeln!(out, "virtual time {:.6} s, {} turns", report.time.as_secs_f64(), report.turns)?;
    writeln!(
        out,
        "operations {}, and {} rejected: {}",
        report.operations,
        report.rejected,
        counts(&report.ends)
    )?;
    writeln!(out, "faults {}: {}", report.fault_count(), counts(&report.faults))?;
    writeln!(out, "requests served {}", report.requests)?;
    if report.violation.is_none() {
        return writeln!(out, "no violation");
    }
    many::violation(out, report, twice)
}
