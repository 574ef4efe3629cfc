#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]
use rmq_sim::run::{Run, RunOptions};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let from: u64 = args[1].parse().unwrap();
    let to: u64 = args[2].parse().unwrap();
    let trace = args.get(3).is_some();
    let mut ops = vec![];
    let mut faults = vec![];
    let mut bad = std::collections::BTreeMap::<&str, (u64, u64, String)>::new();
    let mut ends = std::collections::BTreeMap::<&str, u64>::new();
    let mut vt = std::time::Duration::ZERO;
    for seed in from..to {
        let mut run = Run::new(RunOptions::draw(seed));
        if trace {
            run.record();
        }
        let report = run.finish();
        if trace {
            for e in run.trace().entries() {
                println!("{e}");
            }
            println!("{report:#?}");
        }
        ops.push(report.operations);
        faults.push(report.fault_count());
        for (k, v) in &report.ends {
            *ends.entry(k).or_default() += v;
        }
        vt += report.time;
        if let Some((at, v)) = report.violation {
            let e = bad.entry(v.oracle).or_insert((seed, 0, format!("{at:?} {}", v.detail)));
            e.1 += 1;
        }
    }
    ops.sort();
    faults.sort();
    println!(
        "median ops {} faults {} virtual {vt:?} ends {ends:?}",
        ops[ops.len() / 2],
        faults[faults.len() / 2]
    );
    for (k, (seed, n, d)) in bad {
        println!("{k}: {n} runs, first seed {seed}: {}", d.chars().take(900).collect::<String>());
    }
}
