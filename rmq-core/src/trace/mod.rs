//! Message trace (producer §10.4): what a producer tells of its messages, on its way to the trace topic.
//!
//! Records wait here until there are enough of them, or until it is time; then they are packed into messages, which the
//! client sends as an inner producer's. So many are under way at most; what is packed beyond that waits, and when too
//! many records wait, further ones are dropped.

mod ended;
mod parcel;
mod published;

pub(crate) use ended::{Labels, ended};
pub(crate) use parcel::TraceMessage;
pub(crate) use published::published;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use rmq_proto::trace::TraceRecord;

use crate::config::{ProducerConfig, Trace};
use crate::deadlines::Armed;
use crate::event::ProducerId;
use crate::time::Instant;
use parcel::{Packed, pack};

/// Records wait no longer than so after others were packed.
const INTERVAL: Duration = Duration::from_secs(5);
/// Time of a message with records.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// The records that a message under way carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cargo {
    pub(crate) producer: ProducerId,
    pub(crate) records: u64,
}

/// The records of one producer.
#[derive(Clone, Debug)]
pub(crate) struct Tracer {
    topic: String,
    batch: usize,
    /// In whose name they are sent. It is no producer of its own: heartbeats do not name it.
    pub(crate) sender: ProducerId,
    pub(crate) config: Arc<ProducerConfig>,
    records: VecDeque<TraceRecord>,
    /// Never more than one batch.
    packed: VecDeque<TraceMessage>,
    last_packed: Option<Instant>,
    under_way: usize,
    pub(crate) timer: Option<Armed>,
}

impl Tracer {
    /// `number` tells the inner producers of a client apart, from 1.
    fn new(trace: &Trace, group: &str, sender: ProducerId, number: u32) -> Self {
        let group = format!("_INNER_TRACE_PRODUCER-{group}-PRODUCE-{number}");
        Self {
            topic: trace.topic_name().into(),
            batch: trace.batch_len(),
            sender,
            config: Arc::new(ProducerConfig::new(group).send_timeout(SEND_TIMEOUT)),
            records: VecDeque::new(),
            packed: VecDeque::new(),
            last_packed: None,
            under_way: 0,
            timer: None,
        }
    }

    /// Records that are not on their way.
    fn waiting(&self) -> usize {
        self.records.len() + self.packed.iter().map(|message| message.records as usize).sum::<usize>()
    }

    /// False when there is no room for it.
    pub(crate) fn push(&mut self, record: TraceRecord, most: usize) -> bool {
        let has_room = self.waiting() < most;
        if has_room {
            self.records.push_back(record);
        }
        has_room
    }

    /// When records are to be packed, though they are few.
    pub(crate) fn due(&self, most_under_way: usize) -> Option<Instant> {
        let waits = !self.records.is_empty() && self.under_way < most_under_way;
        waits.then(|| self.last_packed.map_or(Instant::ZERO, |at| at + INTERVAL))
    }

    /// The next message to send, if there is one and not too many are under way. `all` packs records that could wait. `lost`
    /// counts those that cannot be packed.
    pub(crate) fn next(
        &mut self,
        now: Instant,
        most_under_way: usize,
        all: bool,
        lost: &mut u64,
    ) -> Option<TraceMessage> {
        while self.under_way < most_under_way {
            if let Some(message) = self.packed.pop_front() {
                self.under_way += 1;
                return Some(message);
            }
            let is_time = self.due(most_under_way).is_some_and(|at| at <= now);
            if !(is_time || self.records.len() >= self.batch || all && !self.records.is_empty()) {
                return None;
            }
            let batch = self.batch.min(self.records.len());
            let Packed { messages, lost: unpacked } = pack(&self.topic, self.records.drain(..batch));
            self.packed = messages;
            self.last_packed = Some(now);
            *lost += unpacked;
        }
        None
    }

    /// Takes away all that waits; returns how many records that was.
    pub(crate) fn clear(&mut self) -> u64 {
        let waiting = self.waiting() as u64;
        self.records.clear();
        self.packed.clear();
        waiting
    }
}

/// The tracers of those producers that have one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracers {
    by_producer: BTreeMap<ProducerId, Tracer>,
    under_way: usize,
}

impl Tracers {
    pub(crate) fn insert(&mut self, producer: ProducerId, sender: ProducerId, group: &str, trace: &Trace) {
        let number = u32::try_from(self.by_producer.len() + 1).unwrap_or(u32::MAX);
        self.by_producer.insert(producer, Tracer::new(trace, group, sender, number));
    }

    pub(crate) fn get_mut(&mut self, producer: ProducerId) -> Option<&mut Tracer> {
        self.by_producer.get_mut(&producer)
    }

    pub(crate) fn all(&mut self) -> impl Iterator<Item = (ProducerId, &mut Tracer)> {
        self.by_producer.iter_mut().map(|(id, tracer)| (*id, tracer))
    }

    /// Records that are not on their way, of all producers.
    pub(crate) fn waiting(&self) -> usize {
        self.by_producer.values().map(Tracer::waiting).sum()
    }

    /// Messages with records that are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    pub(crate) fn begun(&mut self) {
        self.under_way += 1;
    }

    /// A message of this producer's records is under way no longer.
    pub(crate) fn ended(&mut self, producer: ProducerId) {
        self.under_way -= 1;
        if let Some(tracer) = self.by_producer.get_mut(&producer) {
            tracer.under_way -= 1;
        }
    }
}
