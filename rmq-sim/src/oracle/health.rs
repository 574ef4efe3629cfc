//! What must hold of brokers that are left alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmq_core::{Event, Instant, RequestError, SendError};

use super::{Oracle, Seen};
use crate::net::Network;
use crate::run::Operation;

/// Longest that a broker is left alone after a send of this time, as the table has it by default (producer §4.4); its
/// last row is out of reach of a run's sends.
fn isolation(took: Duration) -> Duration {
    let rows = [(15_000, 30_000), (5_000, 10_000), (3_000, 6_000), (1_800, 5_000), (550, 2_000)];
    let took = took.as_millis();
    let row = rows.iter().find(|(threshold, _)| took >= *threshold);
    Duration::from_millis(row.map_or(0, |(_, isolated)| *isolated))
}

pub(crate) const ISOLATED_LEFT_ALONE: &str = "isolated-left-alone";

/// What a failure counts as.
const FAILURE: Duration = Duration::from_secs(10);

/// What is known from outside of one broker, for one producer.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Until then it is left alone, surely.
    surely: Instant,
    /// Until then it may be.
    perhaps: Instant,
}

impl Known {
    fn extend(&mut self, surely: Instant, perhaps: Instant) {
        self.surely = self.surely.max(surely);
        self.perhaps = self.perhaps.max(perhaps).max(surely);
    }
}

#[derive(Debug, Default)]
struct View {
    brokers: BTreeMap<Arc<str>, Known>,
    /// Operations under way.
    open: u32,
    /// Whether two of them were under way at once since there was none.
    crowded: bool,
}

impl View {
    fn entered(&mut self) {
        self.open += 1;
        self.crowded |= self.open > 1;
    }

    /// Whether the one that ended was alone all its time.
    fn left(&mut self) -> bool {
        self.open = self.open.saturating_sub(1);
        let alone = !self.crowded;
        self.crowded &= self.open > 0;
        alone
    }

    /// Another broker that is surely available from `from` to its end, and was not tried last.
    fn available(&self, but: &str, last: Option<&str>, from: Instant) -> Option<&Arc<str>> {
        let may = |name: &str| name != but && Some(name) != last;
        self.brokers.iter().find(|(name, known)| may(name) && known.perhaps <= from).map(|(name, _)| name)
    }

    fn all_perhaps(&mut self, until: Instant) {
        self.brokers.values_mut().for_each(|known| known.extend(Instant::ZERO, until));
    }

    /// Judges the attempts of a failed send, if its choices are to be judged, and takes note of what they say.
    fn failed(&mut self, operation: &Operation, error: &SendError, judge: bool) -> Result<(), String> {
        let mut last: Option<&str> = None;
        for attempt in error.attempts() {
            let began = operation.accepted + attempt.began;
            let surely = self.brokers.get(&attempt.broker).is_some_and(|known| began < known.surely);
            if judge
                && surely
                && let Some(other) = self.available(&attempt.broker, last, began)
            {
                return Err(format!(
                    "{operation:?} tried {attempt} at {began:?}, which was to be left alone, while {other} was \
                     available: {self:?}"
                ));
            }
            let ended = began + attempt.took;
            let until = ended + isolation(attempt.took);
            let (surely, perhaps) = match &attempt.error {
                RequestError::TooManyConnections { .. } => (Instant::ZERO, ended),
                RequestError::NoMaster => (until, until),
                _ => (ended + isolation(FAILURE), ended + isolation(FAILURE)),
            };
            if let Some(known) = self.brokers.get_mut(&attempt.broker) {
                known.extend(surely, perhaps);
            }
            last = Some(&*attempt.broker);
        }
        Ok(())
    }
}

/// A broker that was slow or failed gets no send while another one is available that did not fail just now. What cannot be
/// known from outside speaks for the client: a send that ended well after several attempts, one that was cancelled, and any
/// that was not alone all its time. For runs with the default table in which each broker stays and has the topic.
#[derive(Debug, Default)]
pub struct IsolatedLeftAlone {
    views: BTreeMap<(u32, usize), View>,
}

impl IsolatedLeftAlone {
    fn view(&mut self, operation: &Operation, network: &Network) -> &mut View {
        self.views.entry((operation.client, operation.producer)).or_insert_with(|| View {
            brokers: network
                .cluster()
                .brokers()
                .iter()
                .map(|broker| (broker.name().into(), Known::default()))
                .collect(),
            open: 0,
            crowded: false,
        })
    }

    fn ended(
        &mut self,
        at: Instant,
        operation: &Operation,
        event: &Event,
        network: &Network,
    ) -> Result<(), String> {
        let view = self.view(operation, network);
        let judge = view.left() && operation.topic.starts_with("topic-") && !operation.has_given_queue;
        let worst = isolation(at.saturating_since(operation.accepted)).max(isolation(FAILURE));
        match event {
            Event::SendFailed { error, .. } => view.failed(operation, error, judge),
            Event::Sent { result, .. } if result.attempts == 1 => {
                let broker = &result.queue.broker;
                let surely = view.brokers.get(broker).is_some_and(|known| at < known.surely);
                if judge
                    && surely
                    && let Some(other) = view.available(broker, None, operation.accepted)
                {
                    return Err(format!(
                        "{operation:?} went to {broker}, which was to be left alone, while {other} was available: \
                         {view:?}"
                    ));
                }
                let perhaps = at + isolation(at.saturating_since(operation.accepted));
                if let Some(known) = view.brokers.get_mut(broker) {
                    known.extend(Instant::ZERO, perhaps);
                }
                Ok(())
            }
            _ => {
                view.all_perhaps(at + worst);
                Ok(())
            }
        }
    }
}

impl Oracle for IsolatedLeftAlone {
    fn name(&self) -> &'static str {
        ISOLATED_LEFT_ALONE
    }

    fn see(&mut self, at: Instant, seen: Seen<'_>, network: &Network) -> Result<(), String> {
        match seen {
            Seen::Accepted(operation) => {
                self.view(operation, network).entered();
                Ok(())
            }
            Seen::Ended { operation, event } => self.ended(at, operation, event, network),
            _ => Ok(()),
        }
    }
}
