//! Message trace: records on their way to the trace topic, in messages that no user knows of (producer §10.4).

use alloc::vec::Vec;

use rmq_proto::names::namespace;
use rmq_proto::trace::TraceRecord;

use super::{Client, Effect, Timer};
use crate::config::ProducerConfig;
use crate::event::{Event, OpId, ProducerId};
use crate::producer::{NewSend, Purpose, SendOp, Target};
use crate::trace::{Cargo, TraceMessage, ended};

impl Client {
    /// The inner producer sends over the client's connections. Brokers do not hear of it: they take sends of groups that
    /// never registered, and would have nothing to tell it.
    pub(super) fn add_tracer(&mut self, producer: ProducerId, config: &ProducerConfig) {
        if let Some(trace) = &config.trace {
            let sender = self.producers.reserve();
            self.tracers.insert(producer, sender, &config.group, trace);
        }
    }

    /// Takes what an operation's last attempt has to tell.
    pub(super) fn tell_trace(&mut self, op: OpId) {
        let Some(send) = self.sends.get_mut(op.0) else { return };
        if let Some(record) = send.take_record() {
            let producer = send.producer;
            self.trace(producer, *record);
        }
    }

    /// Tells of the end of a transaction whose bytes were taken.
    pub(super) fn trace_end(&mut self, op: OpId) {
        let Some(send) = self.sends.get(op.0).filter(|send| send.ending().is_some()) else { return };
        if let Some(record) = ended(send, self.unix_ms()) {
            self.trace(send.producer, record);
        }
    }

    /// Takes a record of a producer with trace on.
    fn trace(&mut self, producer: ProducerId, mut record: TraceRecord) {
        let most = self.config.limits.trace_records;
        self.leave_namespace_of(&mut record);
        let Some(tracer) = self.tracers.get_mut(producer) else { return };
        self.stats.traces += 1;
        if tracer.push(record, most) {
            self.flush_traces(producer);
        } else {
            self.stats.traces_dropped += 1;
        }
    }

    /// Names in records are users' names.
    fn leave_namespace_of(&self, record: &mut TraceRecord) {
        let Some(namespace) = self.config.rules.namespace.as_deref() else { return };
        let (group, topic) = match record {
            TraceRecord::Pub(record) => (&mut record.group, &mut record.topic),
            TraceRecord::EndTransaction(record) => (&mut record.group, &mut record.topic),
            _ => return,
        };
        for name in [group, topic] {
            *name = namespace::unwrap(namespace, name).into_owned();
        }
    }

    /// Sends what is due. When the client shuts down and nothing is under way that could have more to tell, all is.
    fn flush_traces(&mut self, producer: ProducerId) {
        let (now, most) = (self.now, self.config.limits.trace_sends);
        let all = !self.lifecycle.accepts() && self.sends.len() == self.tracers.under_way();
        while let Some(tracer) = self.tracers.get_mut(producer)
            && let Some(message) = tracer.next(now, most, all, &mut self.stats.traces_dropped)
        {
            self.send_traces(producer, &message);
        }
        let Some(tracer) = self.tracers.get_mut(producer) else { return };
        match tracer.due(most) {
            Some(at) => self.timers.arm(&mut tracer.timer, at, Timer::Trace(producer)),
            None => self.timers.disarm(&mut tracer.timer),
        }
    }

    fn send_traces(&mut self, producer: ProducerId, trace: &TraceMessage) {
        let unix_ms = self.unix_ms();
        let Some(tracer) = self.tracers.get_mut(producer) else { return };
        let (sender, config) = (tracer.sender, tracer.config.clone());
        let new = NewSend::of(&trace.message, Target::Topic, &self.unique_keys.next(unix_ms));
        let time = (self.now, config.send_timeout);
        let born_ms = self.born_ms();
        let mut send = SendOp::new(sender, config, new, time, born_ms, false);
        send.purpose = Purpose::Trace(Cargo { producer, records: trace.records });
        let op = OpId(self.sends.insert(send));
        self.tracers.begun();
        self.arm_send(op, None);
        self.effects.push_back(Effect::Proceed(op));
    }

    pub(super) fn trace_timer(&mut self, producer: ProducerId) {
        if let Some(tracer) = self.tracers.get_mut(producer) {
            tracer.timer = None;
            self.flush_traces(producer);
        }
    }

    /// A message with records ended, by this event that nobody sees.
    pub(super) fn traces_ended(&mut self, cargo: Cargo, event: &Event) {
        let counter = match event {
            Event::Sent { .. } => &mut self.stats.traces_sent,
            _ => &mut self.stats.traces_failed,
        };
        *counter += cargo.records;
        if let Event::SendFailed { error, .. } = event {
            let (producer, records, mut error) = (cargo.producer, cargo.records, error.clone());
            error.0.topic = self.users_topic(error.0.topic);
            self.notice(Event::TraceFailed { producer, records, error });
        }
        self.tracers.ended(cargo.producer);
        self.flush_traces(cargo.producer);
    }

    /// Sends what waits, if nothing is under way that could have more to tell.
    pub(super) fn flush_last_traces(&mut self) {
        let producers: Vec<_> = self.tracers.all().map(|(producer, _)| producer).collect();
        producers.into_iter().for_each(|producer| self.flush_traces(producer));
    }

    /// Gives up what waits.
    pub(super) fn drop_traces(&mut self) {
        for (_, tracer) in self.tracers.all() {
            self.timers.disarm(&mut tracer.timer);
            self.stats.traces_failed += tracer.clear();
        }
    }
}
