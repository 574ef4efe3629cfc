//! Drawing what there is where it stands.

use std::time::Duration;

use rmq_core::Instant;

use super::layout::{Layout, WAIT, reaches};
use super::scene::{Arrow, ArrowEnd, ArrowKind, Band, BandEnd, Lane, Mark, MarkKind, Scene};
use super::seconds;
use super::svg::{Anchor, Escaped, Svg, shortened, wrapped};

const STYLE: &str = include_str!("style.css");
/// Right edge of the times.
const AXIS: f64 = 82.0;
/// Characters of a text at the left of a client's line, and at its right.
const BESIDE: [usize; 2] = [36, 68];
/// How far from the server, and from the client, a lost frame's arrow ends: clear of the texts there.
const LOST: [f64; 2] = [40.0, 230.0];
/// How far down it gets.
const LOST_DROP: f64 = 16.0;
/// Lines that the violation's text has.
const DETAIL_LINES: usize = 16;
/// From this height on the names stand below the lines, too.
const TALL: f64 = 900.0;
/// Width of a band.
const BAND: f64 = 12.0;
/// Distance of a band's names.
const REPEATED: f64 = 400.0;

pub(super) struct Painter<'a> {
    scene: &'a Scene,
    layout: &'a Layout,
    svg: Svg,
}

impl<'a> Painter<'a> {
    pub(super) fn new(scene: &'a Scene, layout: &'a Layout) -> Self {
        Self { scene, layout, svg: Svg::default() }
    }

    pub(super) fn paint(mut self, title: &str, window: &str) -> String {
        let layout = self.layout;
        let violation = self.scene.marks.iter().find(|mark| mark.kind == MarkKind::Violation);
        let violation = violation.filter(|mark| layout.steps.contains(&mark.step));
        let detail = violation.map_or_else(Vec::new, |mark| {
            wrapped(&mark.text, ((layout.width - 60.0) / 6.4) as usize, DETAIL_LINES)
        });
        let is_tall = layout.bottom - layout.top > TALL;
        let below = layout.bottom + if is_tall { 46.0 } else { 8.0 };
        let panel = if detail.is_empty() { 0.0 } else { 24.0 + 15.0 * detail.len() as f64 };
        let (width, height) = (layout.width, below + panel + 12.0);
        self.svg.add(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">"#
        ));
        self.svg.add(format_args!("<title>{}</title>\n<style>\n{STYLE}</style>", Escaped(title)));
        self.svg.add(format_args!(r#"<rect class="paper" width="{width:.0}" height="{height:.0}"/>"#));
        self.svg.text("title", (16.0, 28.0), Anchor::Start, title);
        self.svg.text("window", (16.0, 48.0), Anchor::Start, window);
        self.legend();
        self.names(layout.top - 26.0);
        if is_tall {
            self.names(layout.bottom + 18.0);
        }
        self.axis();
        self.lines();
        self.bands();
        self.arrows();
        self.marks();
        if let Some(mark) = violation {
            self.violation(mark, &detail, below);
        }
        self.svg.finish()
    }

    fn legend(&mut self) {
        let y = 72.0;
        let mut x = 16.0;
        let samples = [
            ("request", "request (opaque)"),
            ("answer", "answer"),
            ("bad-answer", "answer with an error"),
            ("dial", "dial"),
            ("lost", "never arrived"),
            ("fault", "fault"),
            ("suspended", "suspended"),
            ("begun", "operation begins"),
            ("done", "ends"),
            ("failed", "fails"),
        ];
        for (class, text) in samples {
            let mid = y - 4.0;
            match class {
                "fault" | "suspended" => self.svg.add(format_args!(
                    r#"<rect class="{class}" x="{x:.1}" y="{:.1}" width="26" height="{BAND}"/>"#,
                    mid - BAND / 2.0
                )),
                "begun" | "done" | "failed" => self.dot(class, (x + 18.0, mid)),
                "lost" => {
                    self.svg.line("request lost", (x, mid), (x + 20.0, mid));
                    self.svg.cross("cross", (x + 22.0, mid));
                }
                class => {
                    self.svg.line(class, (x, mid), (x + 26.0, mid));
                    self.head(class, (x, mid), (x + 26.0, mid));
                }
            }
            self.svg.text("small", (x + 32.0, y), Anchor::Start, text);
            x += 50.0 + 5.4 * text.len() as f64;
        }
    }

    fn names(&mut self, y: f64) {
        for column in &self.layout.columns {
            let address = match &column.lane {
                Lane::Client(_) => "",
                Lane::Server(address) => address,
            };
            self.svg.text("name", (column.x, y), Anchor::Middle, &column.name);
            self.svg.text("small", (column.x, y + 15.0), Anchor::Middle, address);
        }
    }

    /// The times at the left, and the waits.
    fn axis(&mut self) {
        let layout = self.layout;
        let mut free = layout.top;
        let mut before: Option<(Instant, f64)> = None;
        for &(at, y) in layout.rows() {
            let is_new = before.is_none_or(|(earlier, _)| earlier != at);
            if let Some((earlier, above)) = before {
                let wait = at.saturating_since(earlier);
                if wait >= WAIT {
                    self.wait(wait, f64::midpoint(above, y));
                }
            }
            before = Some((at, y));
            if is_new && y >= free {
                self.svg.text("time", (AXIS, y + 3.0), Anchor::End, &seconds(at));
                free = y + 13.0;
            }
        }
    }

    fn wait(&mut self, wait: Duration, y: f64) {
        let text = format!("{:.1} s later", wait.as_secs_f64());
        self.svg.line("wait", (AXIS + 8.0, y), (self.layout.width - 16.0, y));
        self.svg.text("small", (AXIS, y + 3.0), Anchor::End, &text);
    }

    fn lines(&mut self) {
        let layout = self.layout;
        for column in &layout.columns {
            let (mut top, mut bottom) = (layout.top, layout.bottom);
            if let Lane::Client(number) = column.lane
                && let Some((from, to)) = self.scene.lives.get(&number)
            {
                top = layout.y(*from);
                bottom = to.map_or(bottom, |to| layout.y(to));
            }
            self.svg.line("lifeline", (column.x, top), (column.x, bottom));
        }
    }

    /// Bands that overlap stand side by side.
    fn bands(&mut self) {
        let (layout, scene) = (self.layout, self.scene);
        let mut taken: Vec<(&Lane, usize, f64)> = Vec::new();
        for band in &scene.bands {
            let is_seen = band.from < layout.steps.end && reaches(scene, band.to, &layout.steps);
            let (true, Some(x)) = (is_seen, layout.x(&band.lane)) else { continue };
            let from = layout.y(band.from);
            let to = layout.y_of_end(band.to).max(from + 3.0);
            let is_free = |slot: usize| {
                !taken.iter().any(|(lane, of, end)| (*lane, *of) == (&band.lane, slot) && *end > from)
            };
            let slot = (0..).find(|slot| is_free(*slot)).unwrap_or(0);
            taken.push((&band.lane, slot, to));
            let x =
                x + if matches!(band.lane, Lane::Client(_)) { -BAND / 2.0 } else { 3.0 + 14.0 * slot as f64 };
            self.band(band, (x, from), to - from);
        }
    }

    fn band(&mut self, band: &Band, (x, y): (f64, f64), height: f64) {
        let class = if matches!(band.lane, Lane::Client(_)) { "suspended" } else { "fault" };
        let until = match band.to {
            BandEnd::Step(step) => format!(" until {} s", seconds(self.scene.steps[step].at)),
            BandEnd::Time(at) => format!(" until {} s", seconds(at)),
            BandEnd::Open => String::new(),
        };
        let from = seconds(self.scene.steps[band.from].at);
        self.svg.group("band", &format!("{}, from {from} s{until}", band.detail));
        self.svg.add(format_args!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{BAND}" height="{height:.1}"/>"#
        ));
        let length = 8.0 + 6.2 * band.label.len() as f64;
        if height < length {
            self.svg.text("label band-name", (x + BAND + 4.0, y + 5.0), Anchor::Start, &band.label);
        }
        // Of a long band every part says what it is.
        for part in 0..(height / REPEATED.max(length)).ceil() as usize {
            let top = y + REPEATED * part as f64;
            if top + length <= y + height {
                self.svg.downward("band-name", (x + 2.5, top + 4.0), &band.label);
            }
        }
        self.svg.end();
    }

    fn arrows(&mut self) {
        let mut labels = Vec::new();
        for arrow in &self.scene.arrows {
            labels.extend(self.arrow(arrow));
        }
        for (class, at, anchor, label) in labels {
            self.svg.text(&format!("label {class}-text"), at, anchor, label);
        }
    }

    /// Returns where its label stands.
    fn arrow<'b>(&mut self, arrow: &'b Arrow) -> Option<(&'static str, (f64, f64), Anchor, &'b str)> {
        let layout = self.layout;
        let steps = &layout.steps;
        let is_left = steps.contains(&arrow.left);
        let ends = matches!(arrow.end, ArrowEnd::Arrived(step) if step >= steps.start);
        if !(is_left || arrow.left < steps.start && ends) {
            return None;
        }
        let (from_x, to_x) = (layout.x(&arrow.from)?, layout.x(&arrow.to)?);
        let class = class(arrow.kind);
        let from = (from_x, layout.y(arrow.left));
        let group = if arrow.kind == ArrowKind::Dial { "dialing" } else { "frame" };
        self.svg.group(group, &format!("{}, {}", arrow.detail, self.times(arrow)));
        match arrow.end {
            ArrowEnd::Arrived(step) if step < steps.end => {
                let to = (to_x, layout.y(step));
                self.svg.line(class, from, to);
                self.head(class, from, to);
            }
            ArrowEnd::Lost => {
                let to = if to_x > from_x { to_x - LOST[0] } else { to_x + LOST[1] };
                let to = (to, from.1 + LOST_DROP);
                self.svg.line(&format!("{class} lost"), from, to);
                self.svg.cross("cross", to);
            }
            ArrowEnd::Arrived(_) | ArrowEnd::OnItsWay => {
                let to = (from.0 + (to_x - from.0) * 0.9, layout.bottom);
                self.svg.line(&format!("{class} under-way"), from, to);
            }
        }
        self.svg.end();
        let (side, anchor) = if to_x > from_x { (8.0, Anchor::Start) } else { (-8.0, Anchor::End) };
        let at = (from.0 + side, from.1 + if is_left { -2.0 } else { 10.0 });
        Some((class, at, anchor, &arrow.label))
    }

    fn times(&self, arrow: &Arrow) -> String {
        let left = seconds(self.scene.steps[arrow.left].at);
        let left = format!("from {} to {}, left {left} s", arrow.from, arrow.to);
        match arrow.end {
            ArrowEnd::Arrived(step) => {
                format!("{left}, arrived {} s", seconds(self.scene.steps[step].at))
            }
            ArrowEnd::Lost => format!("{left}, never arrived"),
            ArrowEnd::OnItsWay => format!("{left}, still on its way at the end"),
        }
    }

    fn head(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let length = (x2 - x1).hypot(y2 - y1).max(1.0);
        let (dx, dy) = ((x2 - x1) / length, (y2 - y1) / length);
        let (x, y) = (x2 - 8.0 * dx, y2 - 8.0 * dy);
        let (a, b) = ((x - 3.2 * dy, y + 3.2 * dx), (x + 3.2 * dy, y - 3.2 * dx));
        self.svg.add(format_args!(
            r#"<path class="head {class}-head" d="M{x2:.1} {y2:.1}L{:.1} {:.1}L{:.1} {:.1}z"/>"#,
            a.0, a.1, b.0, b.1
        ));
    }

    fn dot(&mut self, class: &str, (x, y): (f64, f64)) {
        self.svg.add(format_args!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="4"/>"#));
    }

    fn marks(&mut self) {
        for mark in &self.scene.marks {
            if self.layout.steps.contains(&mark.step) {
                self.mark(mark);
            }
        }
    }

    fn mark(&mut self, mark: &Mark) {
        let y = self.layout.y(mark.step);
        let x = mark.lane.as_ref().and_then(|lane| self.layout.x(lane));
        let class = match mark.kind {
            MarkKind::Begun => "begun",
            MarkKind::Done => "done",
            MarkKind::Failed => "failed",
            MarkKind::Told => "told",
            MarkKind::Closed => "closed",
            MarkKind::Life => "life",
            MarkKind::All => "all",
            MarkKind::Violation => return,
        };
        self.svg.group("mark", &mark.text);
        let text = format!("label {class}-text");
        match (mark.kind, x) {
            (MarkKind::Closed, Some(x)) => {
                self.svg.cross(class, (x, y));
                self.svg.text(&text, (x + 8.0, y + 3.0), Anchor::Start, &mark.text);
            }
            (MarkKind::Failed, Some(x)) => {
                self.dot(class, (x, y));
                let short = shortened(&mark.text, BESIDE[1]);
                self.svg.text(&text, (x + 8.0, y + 3.0), Anchor::Start, &short);
            }
            (_, Some(x)) => {
                self.dot(class, (x, y));
                let short = shortened(&mark.text, BESIDE[0]);
                self.svg.text(&text, (x - 8.0, y + 3.0), Anchor::End, &short);
            }
            (_, None) => {
                self.svg.line("all", (AXIS + 8.0, y), (self.layout.width - 16.0, y));
                self.svg.text(&text, (AXIS + 12.0, y - 2.0), Anchor::Start, &mark.text);
            }
        }
        self.svg.end();
    }

    fn violation(&mut self, mark: &Mark, detail: &[String], below: f64) {
        let (y, right) = (self.layout.y(mark.step), self.layout.width - 16.0);
        self.svg.group("violation", &mark.text);
        self.svg.line("violated", (AXIS + 8.0, y), (right, y));
        let name = mark.text.split(':').next().unwrap_or_default();
        self.svg.text("violated-text", (AXIS + 12.0, y - 3.0), Anchor::Start, name);
        let (width, height) = (right - 16.0, 10.0 + 15.0 * detail.len() as f64);
        self.svg.add(format_args!(
            r#"<rect class="panel" x="16" y="{below:.1}" width="{width:.1}" height="{height:.1}"/>"#
        ));
        for (index, line) in detail.iter().enumerate() {
            self.svg.text("detail", (26.0, below + 17.0 + 15.0 * index as f64), Anchor::Start, line);
        }
        self.svg.end();
    }
}

const fn class(kind: ArrowKind) -> &'static str {
    match kind {
        ArrowKind::Dial => "dial",
        ArrowKind::Request => "request",
        ArrowKind::Answer => "answer",
        ArrowKind::BadAnswer => "bad-answer",
    }
}
