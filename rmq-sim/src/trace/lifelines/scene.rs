//! What there is to draw, read from a trace.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmq_core::Instant;
use rmq_proto::code::{RequestCode, ResponseCode};

use super::{Direction, Entry};
use crate::net::{Ended, Fault, StreamId};
use crate::trace::{FrameInfo, Happening};

/// Who has a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    Client(u32),
    Server(Arc<str>),
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(number) => write!(f, "c{number}"),
            Self::Server(address) => f.write_str(address),
        }
    }
}

/// One event that is drawn. Everything else names it by its index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) at: Instant,
    /// Whether text stands beside it, which takes a row of its own.
    pub(super) has_text: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowKind {
    Dial,
    Request,
    Answer,
    /// An answer that says no.
    BadAnswer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowEnd {
    Arrived(usize),
    /// The connection is gone, and it never arrived.
    Lost,
    /// The trace ends before.
    OnItsWay,
}

#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) kind: ArrowKind,
    pub(super) from: Lane,
    pub(super) to: Lane,
    pub(super) left: usize,
    pub(super) end: ArrowEnd,
    pub(super) label: String,
    pub(super) detail: String,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum BandEnd {
    Step(usize),
    Time(Instant),
    /// Not before the trace ends.
    Open,
}

#[derive(Debug)]
pub(super) struct Band {
    pub(super) lane: Lane,
    pub(super) from: usize,
    pub(super) to: BandEnd,
    pub(super) label: String,
    pub(super) detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// An operation begins.
    Begun,
    /// An operation ended well.
    Done,
    /// An operation ended otherwise.
    Failed,
    /// Something about an operation or a client.
    Told,
    /// A connection ended.
    Closed,
    /// A client begins or is no more.
    Life,
    /// Concerns nobody alone.
    All,
    Violation,
}

#[derive(Debug)]
pub(super) struct Mark {
    pub(super) kind: MarkKind,
    pub(super) lane: Option<Lane>,
    pub(super) step: usize,
    pub(super) text: String,
}

#[derive(Debug)]
struct Stream {
    client: Lane,
    server: Lane,
    dial: Option<usize>,
    /// Arrows under way: to the server, to the client.
    flights: [VecDeque<usize>; 2],
    is_over: bool,
}

/// All that there is to draw of a trace.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub(super) steps: Vec<Step>,
    pub(super) arrows: Vec<Arrow>,
    pub(super) bands: Vec<Band>,
    pub(super) marks: Vec<Mark>,
    /// From which step to which a client lives.
    pub(super) lives: BTreeMap<u32, (usize, Option<usize>)>,
    /// The step of the violation.
    pub(super) violated: Option<usize>,
    /// Events of connections whose beginning is not in the trace.
    pub(super) strangers: u64,
    streams: BTreeMap<StreamId, Stream>,
    faults: Vec<(Arc<str>, Fault, usize)>,
}

impl Scene {
    pub(super) fn read<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut scene = Self::default();
        for entry in entries {
            scene.add(entry);
        }
        let streams = std::mem::take(&mut scene.streams);
        for stream in streams.into_values().filter(|stream| !stream.is_over) {
            stream.flights.iter().flatten().chain(&stream.dial).for_each(|arrow| {
                scene.arrows[*arrow].end = ArrowEnd::OnItsWay;
            });
        }
        scene
    }

    fn add(&mut self, entry: &Entry) {
        match &entry.happening {
            Happening::Left { .. } | Happening::Arrived { .. } => {}
            Happening::Dialed { client, stream, address } => {
                let step = self.step(entry.at, true);
                self.dial(step, *client, *stream, address);
            }
            Happening::Opened { stream } => {
                let step = self.step(entry.at, false);
                self.opened(step, *stream);
            }
            Happening::Ended { stream, how } => self.end(entry.at, *stream, Some(*how)),
            Happening::Abandoned { stream } => self.end(entry.at, *stream, None),
            Happening::FrameLeft { stream, to, frame } => self.leave(entry.at, *stream, *to, frame),
            Happening::FrameArrived { stream, to, .. } => self.arrive(entry.at, *stream, *to),
            Happening::FaultBegan { address, fault } => {
                let step = self.step(entry.at, true);
                self.faults.push((address.clone(), fault.clone(), self.bands.len()));
                self.band(
                    Lane::Server(address.clone()),
                    step,
                    BandEnd::Open,
                    fault.name(),
                    fault.to_string(),
                );
            }
            Happening::FaultEnded { address, fault } => {
                let step = self.step(entry.at, false);
                let ended = self.faults.iter().position(|(at, which, _)| at == address && which == fault);
                if let Some((.., band)) = ended.map(|index| self.faults.remove(index)) {
                    self.bands[band].to = BandEnd::Step(step);
                }
            }
            Happening::Suspended { client, time } => {
                let step = self.step(entry.at, true);
                let (lane, detail) = (Lane::Client(*client), format!("suspended for {time:?}"));
                self.band(lane, step, BandEnd::Time(entry.at + *time), "suspended", detail);
            }
            happening => self.tell(entry.at, happening),
        }
    }

    /// What is a mark and nothing else.
    fn tell(&mut self, at: Instant, happening: &Happening) {
        let step = self.step(at, true);
        let (kind, client, text) = match happening {
            Happening::Started { client } => {
                self.lives.insert(*client, (step, None));
                (MarkKind::Life, Some(client), "starts".to_owned())
            }
            Happening::Killed { client } | Happening::ShutDown { client } => {
                if let Some((_, end)) = self.lives.get_mut(client) {
                    *end = Some(step);
                }
                let is_killed = matches!(happening, Happening::Killed { .. });
                (MarkKind::Life, Some(client), if is_killed { "killed" } else { "has shut down" }.to_owned())
            }
            Happening::ShuttingDown { client } => {
                (MarkKind::Told, Some(client), "is to shut down".to_owned())
            }
            Happening::ClockStepped { client, millis } => {
                let by = Duration::from_millis(millis.unsigned_abs());
                let sign = if *millis < 0 { '-' } else { '+' };
                (MarkKind::Told, Some(client), format!("wall clock {sign}{by:?}"))
            }
            Happening::Accepted { client, op, what } => {
                (MarkKind::Begun, Some(client), format!("op {op}: {what}"))
            }
            Happening::Cancelled { client, op } => (MarkKind::Told, Some(client), format!("op {op}: cancel")),
            Happening::Finished { client, op, how } => {
                let is_good = matches!(&**how, "sent" | "written" | "cancelled");
                let kind = if is_good { MarkKind::Done } else { MarkKind::Failed };
                (kind, Some(client), format!("op {op}: {how}"))
            }
            Happening::Violated(violation) => {
                self.violated = Some(step);
                (MarkKind::Violation, None, violation.to_string())
            }
            other => (MarkKind::All, None, other.to_string()),
        };
        let lane = client.map(|client| Lane::Client(*client));
        self.marks.push(Mark { kind, lane, step, text });
    }

    fn step(&mut self, at: Instant, has_text: bool) -> usize {
        self.steps.push(Step { at, has_text });
        self.steps.len() - 1
    }

    fn band(&mut self, lane: Lane, from: usize, to: BandEnd, label: &str, detail: String) {
        self.bands.push(Band { lane, from, to, label: label.to_owned(), detail });
    }

    fn dial(&mut self, step: usize, client: u32, id: StreamId, address: &Arc<str>) {
        let (client, server) = (Lane::Client(client), Lane::Server(address.clone()));
        self.arrows.push(Arrow {
            kind: ArrowKind::Dial,
            from: client.clone(),
            to: server.clone(),
            left: step,
            end: ArrowEnd::Lost,
            label: format!("{id} dials"),
            detail: format!("{id} dials {address}"),
        });
        let dial = Some(self.arrows.len() - 1);
        self.streams.insert(id, Stream { client, server, dial, flights: Default::default(), is_over: false });
    }

    fn opened(&mut self, step: usize, id: StreamId) {
        let stream = self.streams.get_mut(&id);
        match stream.and_then(|stream| stream.dial.take()) {
            Some(arrow) => self.arrows[arrow].end = ArrowEnd::Arrived(step),
            None => self.strangers += 1,
        }
    }

    /// The stream stays known: what was written before may still arrive.
    fn end(&mut self, at: Instant, id: StreamId, how: Option<Ended>) {
        let Some(stream) = self.streams.get_mut(&id) else {
            self.strangers += 1;
            return;
        };
        // A client closes what it learned to be over, which is no news.
        if std::mem::replace(&mut stream.is_over, true) {
            return;
        }
        stream.dial = None;
        let lane = Some(stream.client.clone());
        let text = how.map_or_else(|| format!("{id} closed by the client"), |how| format!("{id} {how}"));
        let step = self.step(at, true);
        self.marks.push(Mark { kind: MarkKind::Closed, lane, step, text });
    }

    fn leave(&mut self, at: Instant, id: StreamId, to: Direction, frame: &FrameInfo) {
        let step = self.step(at, true);
        let Some(stream) = self.streams.get_mut(&id) else {
            self.strangers += 1;
            return;
        };
        let (from, target) = match to {
            Direction::ToServer => (&stream.client, &stream.server),
            Direction::ToClient => (&stream.server, &stream.client),
        };
        stream.flights[to as usize].push_back(self.arrows.len());
        self.arrows.push(Arrow {
            kind: match (frame.is_response, frame.code) {
                (false, _) => ArrowKind::Request,
                (true, 0) => ArrowKind::Answer,
                (true, _) => ArrowKind::BadAnswer,
            },
            from: from.clone(),
            to: target.clone(),
            left: step,
            end: ArrowEnd::Lost,
            label: format!("{id} {} ({})", code_name(frame), frame.opaque),
            detail: format!("{id} {frame}"),
        });
    }

    fn arrive(&mut self, at: Instant, id: StreamId, to: Direction) {
        let step = self.step(at, false);
        let stream = self.streams.get_mut(&id);
        match stream.and_then(|stream| stream.flights[to as usize].pop_front()) {
            Some(arrow) => self.arrows[arrow].end = ArrowEnd::Arrived(step),
            None => self.strangers += 1,
        }
    }
}

fn code_name(frame: &FrameInfo) -> String {
    let name =
        if frame.is_response { ResponseCode(frame.code).name() } else { RequestCode(frame.code).name() };
    name.map_or_else(|| format!("code {}", frame.code), str::to_owned)
}
