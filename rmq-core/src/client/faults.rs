//! Brokers' health: what attempts say of it, and the detector's questions (producer §4.4, §4.5).

use alloc::sync::Arc;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;

use super::{Client, Timer};
use crate::event::{Event, OpId, ProducerId};
use crate::fault::{News, Outcome, Probe, ProbeId};
use crate::link::{Asking, Owner};

impl Client {
    /// Takes note of what an operation's last attempt says of its broker.
    pub(super) fn tell_fault_table(&mut self, op: OpId) {
        let (now, limit) = (self.now, self.config.limits.fault_items);
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let Some(report) = send.take_report() else { return };
        let (producer, config) = (send.producer, send.config.clone());
        let Some(tolerance) = &config.fault_tolerance else { return };
        // Nothing is remembered of a broker that no route names any more.
        if !self.brokers.contains(&report.broker) {
            return;
        }
        let Some(faults) = self.producers.faults_mut(producer) else { return };
        let forgotten = faults.update(now, &report, tolerance, limit);
        let watched = tolerance.has_detector() && !faults.is_reachable(&report.broker);
        let news = faults.news(&report.broker, now);
        if let Some(broker) = forgotten {
            self.end_probe_of(producer, &broker);
        }
        let broker = report.broker.clone();
        match news {
            Some(News::Isolated(span)) => {
                self.stats.isolations += 1;
                self.notice(Event::BrokerIsolated { producer, broker, span });
            }
            Some(News::Recovered) => self.notice(Event::BrokerRecovered { producer, broker }),
            None => {}
        }
        match report.outcome {
            _ if watched => self.begin_probing(producer, report.broker),
            Outcome::Fine => self.end_probe_of(producer, &report.broker),
            Outcome::Unreached | Outcome::Refused => {}
        }
    }

    /// Forgets the health of brokers that no route names any more.
    pub(super) fn forget_faults_of_unknown(&mut self) {
        let brokers = &self.brokers;
        let gone: alloc::vec::Vec<(ProducerId, Arc<str>)> = self
            .producers
            .all_faults()
            .flat_map(|(id, faults)| {
                let gone = faults.keep(|broker| brokers.contains(broker));
                gone.into_iter().map(move |broker| (id, broker))
            })
            .collect();
        for (producer, broker) in gone {
            self.end_probe_of(producer, &broker);
        }
    }

    fn probe_of(&self, producer: ProducerId, broker: &str) -> Option<ProbeId> {
        let is_it = |probe: &Probe| probe.producer == producer && &*probe.broker == broker;
        self.probes.iter().find(|(_, probe)| is_it(probe)).map(|(id, _)| ProbeId(id))
    }

    /// Watches a broker that is taken to be unreachable, unless that is done already.
    fn begin_probing(&mut self, producer: ProducerId, broker: Arc<str>) {
        if !self.lifecycle.accepts() || self.probe_of(producer, &broker).is_some() {
            return;
        }
        let (topic, now) = (broker.clone(), self.now);
        let probe =
            Probe { producer, broker, topic, asking: Asking::Idle, began: now, deadline: now, timer: None };
        let id = ProbeId(self.probes.insert(probe));
        self.rest(id);
    }

    /// Waits until it is time for the next question.
    fn rest(&mut self, id: ProbeId) {
        let Some(probe) = self.probes.get_mut(id.0) else { return };
        let config = self.producers.get(probe.producer);
        let Some(tolerance) = config.and_then(|config| config.fault_tolerance.as_ref()) else { return };
        probe.asking = Asking::Idle;
        let at = self.now + self.rng.jitter(tolerance.detect_interval);
        self.timers.arm(&mut probe.timer, at, Timer::Probe(id));
    }

    pub(super) fn probe_timer(&mut self, id: ProbeId) {
        let Some(probe) = self.probes.get_mut(id.0) else { return };
        probe.timer = None;
        if matches!(probe.asking, Asking::Idle) {
            return self.ask_broker(id);
        }
        self.leave_broker(id);
        self.rest(id);
    }

    fn ask_broker(&mut self, id: ProbeId) {
        let Some(probe) = self.probes.get(id.0) else { return };
        let (producer, broker) = (probe.producer, probe.broker.clone());
        let Some(master) = self.brokers.master(&broker).cloned() else {
            if let Some(faults) = self.producers.faults_mut(producer) {
                faults.remove(&broker);
            }
            return self.end_probe(id);
        };
        let topic = self.routes.topic_at(&broker).cloned();
        let timeout = self.producers.get(producer).and_then(|config| config.fault_tolerance.as_ref());
        let (Some(topic), Some(timeout)) = (topic, timeout.map(|tolerance| tolerance.detect_timeout)) else {
            return self.rest(id);
        };
        let deadline = self.now + timeout;
        match self.request(&master, Owner::Probe(id), false) {
            Ok((link, ticket)) => {
                let Some(probe) = self.probes.get_mut(id.0) else { return };
                probe.topic = topic;
                probe.asking = Asking::Queued { link, ticket };
                (probe.began, probe.deadline) = (self.now, deadline);
                self.timers.arm(&mut probe.timer, deadline, Timer::Probe(id));
            }
            Err(_) => self.rest(id),
        }
    }

    pub(super) fn probe_answered(&mut self, id: ProbeId, command: &RemotingCommand) {
        // Who may only send is not told offsets by a broker with ACL 2 (seen on 5.3.3). It is there all the same.
        let reached = [ResponseCode::SUCCESS, ResponseCode::NO_PERMISSION];
        if !reached.contains(&ResponseCode(command.code)) {
            return self.rest(id);
        }
        let Some(probe) = self.probes.get(id.0) else { return };
        if let Some(faults) = self.producers.faults_mut(probe.producer) {
            faults.reached(&probe.broker);
        }
        if let Some(probe) = self.probes.get_mut(id.0) {
            probe.asking = Asking::Idle;
        }
        self.end_probe(id);
    }

    /// The question could not be put, or its connection ended: it changes nothing.
    pub(super) fn probe_failed(&mut self, id: ProbeId) {
        self.rest(id);
    }

    fn end_probe_of(&mut self, producer: ProducerId, broker: &str) {
        if let Some(id) = self.probe_of(producer, broker) {
            self.end_probe(id);
        }
    }

    fn end_probe(&mut self, id: ProbeId) {
        self.leave_broker(id);
        if let Some(mut probe) = self.probes.remove(id.0) {
            self.timers.disarm(&mut probe.timer);
        }
    }

    /// Takes a question out of wherever it waits.
    fn leave_broker(&mut self, id: ProbeId) {
        if let Some(&Probe { asking, began, deadline, .. }) = self.probes.get(id.0) {
            self.withdraw(asking, began, deadline);
        }
    }

    /// Nobody is asked any more: the client shuts down.
    pub(super) fn end_probes(&mut self) {
        for id in self.probes.ids() {
            self.end_probe(ProbeId(id));
        }
    }
}
