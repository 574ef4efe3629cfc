//! Where things stand.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rmq_core::Instant;

use super::scene::{ArrowEnd, BandEnd, Lane, Scene};

/// Space for the axis and the texts at the left of the first client.
const LEFT: f64 = 300.0;
/// Between two clients.
const CLIENTS: f64 = 420.0;
/// Between the last client and the first server.
const BETWEEN: f64 = 460.0;
/// Between two servers.
const SERVERS: f64 = 250.0;
/// Above the lines.
const TOP: f64 = 118.0;
/// Right of the last line.
const RIGHT: f64 = 190.0;
/// Of an event with text, and of one without.
const ROWS: [f64; 2] = [15.0, 7.0];
/// The most that a wait takes.
const LONGEST: f64 = 48.0;
/// From this on a wait is marked and written out.
pub(super) const WAIT: Duration = Duration::from_secs(1);

/// A server that has a line.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) lane: Lane,
    pub(super) x: f64,
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) steps: Range<usize>,
    pub(super) columns: Vec<Column>,
    pub(super) width: f64,
    /// Where the lines begin.
    pub(super) top: f64,
    /// Where the lines end.
    pub(super) bottom: f64,
    /// Of each step of the window.
    rows: Vec<(Instant, f64)>,
}

impl Layout {
    pub(super) fn new(scene: &Scene, steps: Range<usize>, servers: &[(Arc<str>, String)]) -> Self {
        let columns = columns(&lanes(scene, &steps), servers);
        let width = columns.last().map_or(LEFT, |column| column.x) + RIGHT;
        let top = TOP;
        let mut y = top + 16.0;
        let mut rows: Vec<(Instant, f64)> = Vec::with_capacity(steps.len());
        for step in &scene.steps[steps.clone()] {
            if let Some((before, _)) = rows.last() {
                let least = ROWS[usize::from(!step.has_text)];
                y += least.max(compressed(step.at.saturating_since(*before)));
            }
            rows.push((step.at, y));
        }
        Self { steps, columns, width: width.max(900.0), top, bottom: y + 24.0, rows }
    }

    pub(super) fn x(&self, lane: &Lane) -> Option<f64> {
        self.columns.iter().find(|column| column.lane == *lane).map(|column| column.x)
    }

    /// Of a step in the window, its own; of others, that of the edge.
    pub(super) fn y(&self, step: usize) -> f64 {
        if step < self.steps.start {
            return self.top;
        }
        self.rows.get(step - self.steps.start).map_or(self.bottom, |(_, y)| *y)
    }

    /// Of a time, between those of the steps around it.
    pub(super) fn y_at(&self, at: Instant) -> f64 {
        let next = self.rows.partition_point(|(of, _)| *of < at);
        match (next.checked_sub(1).map(|before| self.rows[before]), self.rows.get(next)) {
            (None, _) => self.top,
            (Some(_), None) => self.bottom,
            (Some((before, from)), Some((after, to))) => {
                let whole = after.saturating_since(before).as_secs_f64();
                let part = at.saturating_since(before).as_secs_f64();
                if whole > 0.0 { from + (to - from) * part / whole } else { *to }
            }
        }
    }

    pub(super) fn y_of_end(&self, end: BandEnd) -> f64 {
        match end {
            BandEnd::Step(step) => self.y(step),
            BandEnd::Time(at) => self.y_at(at),
            BandEnd::Open => self.bottom,
        }
    }

    /// Time and place of the rows.
    pub(super) fn rows(&self) -> &[(Instant, f64)] {
        &self.rows
    }
}

/// Whether a band's end is after the beginning of the window.
pub(super) fn reaches(scene: &Scene, end: BandEnd, steps: &Range<usize>) -> bool {
    match end {
        BandEnd::Step(step) => step > steps.start,
        BandEnd::Time(at) => scene.steps.get(steps.start).is_some_and(|step| at > step.at),
        BandEnd::Open => true,
    }
}

/// Grows with the logarithm of the wait.
fn compressed(wait: Duration) -> f64 {
    let millis = wait.as_secs_f64() * 1_000.0;
    (4.5 * (1.0 + 5.0 * millis).ln()).min(LONGEST)
}

/// Who takes part.
fn lanes<'a>(scene: &'a Scene, steps: &Range<usize>) -> BTreeSet<&'a Lane> {
    let mut lanes = BTreeSet::new();
    for arrow in &scene.arrows {
        let touches = steps.contains(&arrow.left)
            || matches!(arrow.end, ArrowEnd::Arrived(step) if arrow.left < steps.end && step >= steps.start);
        if touches {
            lanes.extend([&arrow.from, &arrow.to]);
        }
    }
    let bands = scene.bands.iter().filter(|band| band.from < steps.end && reaches(scene, band.to, steps));
    lanes.extend(bands.map(|band| &band.lane));
    let marks = scene.marks.iter().filter(|mark| steps.contains(&mark.step));
    lanes.extend(marks.filter_map(|mark| mark.lane.as_ref()));
    lanes
}

fn columns(lanes: &BTreeSet<&Lane>, servers: &[(Arc<str>, String)]) -> Vec<Column> {
    let order: BTreeMap<&str, usize> =
        servers.iter().enumerate().map(|(index, (address, _))| (&**address, index)).collect();
    let rank = |lane: &Lane| match lane {
        Lane::Client(_) => 0,
        Lane::Server(address) => 1 + order.get(&**address).copied().unwrap_or(servers.len()),
    };
    let mut lanes: Vec<_> = lanes.iter().copied().collect();
    lanes.sort_by_key(|lane| rank(lane));
    let (mut columns, mut x): (Vec<Column>, _) = (Vec::new(), LEFT);
    for lane in lanes {
        x += match (columns.last().map(|column| &column.lane), lane) {
            (None, _) => 0.0,
            (Some(Lane::Client(_)), Lane::Client(_)) => CLIENTS,
            (Some(Lane::Client(_)), Lane::Server(_)) => BETWEEN,
            (Some(Lane::Server(_)), _) => SERVERS,
        };
        let name = match lane {
            Lane::Client(number) => format!("client {number}"),
            Lane::Server(address) => {
                order.get(&**address).map_or_else(String::new, |index| servers[*index].1.clone())
            }
        };
        columns.push(Column { lane: lane.clone(), x, name });
    }
    columns
}
