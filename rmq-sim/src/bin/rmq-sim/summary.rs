//! What many runs came to.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use rmq_sim::run::{FaultKind, RunReport};

/// Longest bar of a histogram, in characters.
const BAR: u64 = 40;
/// Most bars of a histogram.
const BARS: u64 = 12;

/// How often each value came.
#[derive(Default)]
pub(crate) struct Values(BTreeMap<u64, u64>);

impl Values {
    fn add(&mut self, value: u64) {
        *self.0.entry(value).or_default() += 1;
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(|(value, count)| value * count).sum()
    }

    fn least(&self) -> u64 {
        self.0.first_key_value().map_or(0, |(value, _)| *value)
    }

    fn most(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(value, _)| *value)
    }

    /// Of an even number of values, the greater of the two in the middle.
    fn median(&self) -> u64 {
        let mut left = self.0.values().sum::<u64>() / 2;
        for (value, count) in &self.0 {
            if left < *count {
                return *value;
            }
            left -= count;
        }
        0
    }

    /// The width of bars that is 1, 2 or 5 times a power of ten and needs no more than [`BARS`] of them.
    fn width(&self) -> u64 {
        let fits = |width: &u64| self.most() / width - self.least() / width < BARS;
        let widths = (0..19).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_u64.pow(power)));
        widths.into_iter().find(fits).unwrap_or(u64::MAX)
    }

    fn write(&self, out: &mut impl Write, what: &str) -> io::Result<()> {
        writeln!(out, "\n{what} per run, median {}", self.median())?;
        let width = self.width();
        let mut bars = BTreeMap::<u64, u64>::new();
        for (value, count) in &self.0 {
            *bars.entry(value / width).or_default() += count;
        }
        let longest = bars.values().max().copied().unwrap_or(1);
        for bar in self.least() / width..=self.most() / width {
            let count = bars.get(&bar).copied().unwrap_or(0);
            let name = match width {
                1 => bar.to_string(),
                _ => format!("{}..{}", bar * width, (bar + 1).saturating_mul(width) - 1),
            };
            // Of what there is at all, something is seen.
            let length = (count * BAR).div_ceil(longest) as usize;
            writeln!(out, "  {name:>12}  {:<40}  {count}", "#".repeat(length))?;
        }
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) runs: u64,
    /// Of the hashes of all runs, in the order of their seeds.
    pub(crate) hash: u64,
    /// Virtual time of all runs.
    pub(crate) time: Duration,
    pub(crate) operations: Values,
    pub(crate) rejected: u64,
    pub(crate) requests: u64,
    pub(crate) ends: BTreeMap<&'static str, u64>,
    pub(crate) fault_kinds: BTreeMap<&'static str, u64>,
    faults: Values,
    /// In milliseconds.
    times: Values,
    violated: BTreeMap<&'static str, u64>,
}

impl Summary {
    pub(crate) fn add(&mut self, report: &RunReport) {
        if self.runs == 0 {
            self.fault_kinds = FaultKind::ALL.iter().map(|kind| (kind.name(), 0)).collect();
        }
        self.runs += 1;
        self.hash = (self.hash ^ report.hash).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        self.time += report.time;
        self.times.add(u64::try_from(report.time.as_millis()).unwrap_or(u64::MAX));
        self.operations.add(report.operations);
        self.faults.add(report.fault_count());
        self.rejected += report.rejected;
        self.requests += report.requests;
        for (name, count) in &report.ends {
            *self.ends.entry(name).or_default() += count;
        }
        for (name, count) in &report.faults {
            *self.fault_kinds.entry(name).or_default() += count;
        }
        if let Some((_, violation)) = &report.violation {
            *self.violated.entry(violation.oracle).or_default() += 1;
        }
    }

    pub(crate) fn violations(&self) -> u64 {
        self.violated.values().sum()
    }

    pub(crate) fn write(&self, out: &mut impl Write, elapsed: Duration) -> io::Result<()> {
        let seconds = elapsed.as_secs_f64().max(1e-6);
        let rate = self.runs as f64 / seconds;
        writeln!(out, "{} runs in {seconds:.1} s, {rate:.1} runs/s", self.runs)?;
        writeln!(out, "{:.2} virtual hours", self.time.as_secs_f64() / 3_600.0)?;
        let [least, median, most] = [self.times.least(), self.times.median(), self.times.most()]
            .map(|millis| Duration::from_millis(millis).as_secs_f64());
        writeln!(
            out,
            "virtual time of a run: shortest {least:.1} s, median {median:.1} s, longest {most:.1} s"
        )?;
        writeln!(out, "{} requests served", self.requests)?;
        writeln!(out, "hash of all runs {:016x}", self.hash)?;
        self.operations.write(out, "operations")?;
        self.faults.write(out, "faults")?;
        writeln!(out, "\noperations by end, of {}", self.operations.sum())?;
        self.ends.iter().try_for_each(|(name, count)| writeln!(out, "  {name:<20} {count:>10}"))?;
        writeln!(out, "  {:<20} {:>10}  not accepted", "rejected", self.rejected)?;
        writeln!(out, "\nfaults by kind, of {}", self.faults.sum())?;
        for (name, count) in &self.fault_kinds {
            let mark = if *count == 0 { "  never happened" } else { "" };
            writeln!(out, "  {name:<20} {count:>10}{mark}")?;
        }
        writeln!(out, "\n{} violations", self.violations())?;
        self.violated.iter().try_for_each(|(name, count)| writeln!(out, "  {name:<20} {count:>10}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    fn values(of: impl IntoIterator<Item = u64>) -> Values {
        let mut values = Values::default();
        of.into_iter().for_each(|value| values.add(value));
        values
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(values([]).median(), 0);
        assert_eq!(values([9, 1, 1]).median(), 1);
        assert_eq!(values([1, 2, 3, 4]).median(), 3);
    }

    #[test]
    fn bars_are_few_and_cover_everything() {
        let bars = |values: Values| {
            let mut out = Vec::new();
            values.write(&mut out, "things").unwrap();
            let text = String::from_utf8(out).unwrap();
            text.lines()
                .skip(2)
                .map(|line| line.rsplit(" ").next().unwrap().parse::<u64>().unwrap())
                .collect()
        };
        let counts: Vec<u64> = bars(values(0..1_000));
        assert_eq!(counts, [100; 10]);
        let counts: Vec<u64> = bars(values([3, 3, 7]));
        assert_eq!(counts, [2, 0, 0, 0, 1]);
        let counts: Vec<u64> = bars(values([0, u64::MAX]));
        assert_eq!((counts[0], counts.iter().sum::<u64>()), (1, 2));
    }
}
