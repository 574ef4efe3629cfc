//! Producers and the sends they are asked for.

mod admission;
mod batch;
mod gather;
mod message_id;
mod new_send;
mod purpose;
mod request;
mod send;
mod step;

pub(crate) use admission::{Admission, Permit};
pub(crate) use batch::{Batch, Riders, part_of};
pub(crate) use gather::{Gathering, Group, GroupId, GroupKey, element_len};
pub(crate) use message_id::MessageId;
pub(crate) use new_send::{NewSend, Target};
pub(crate) use purpose::Purpose;
pub(crate) use request::RequestOp;
pub(crate) use send::SendOp;
pub(crate) use step::{Progress, Stage, Step, Verdict};

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use crate::config::ProducerConfig;
use crate::event::ProducerId;
use crate::fault::FaultTable;
use crate::time::Instant;

#[derive(Clone, Debug)]
struct Producer {
    config: Arc<ProducerConfig>,
    faults: FaultTable,
    admission: Admission,
}

/// The producers of one client, by group; in the order they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Producers {
    by_id: BTreeMap<ProducerId, Producer>,
    next: u32,
}

impl Producers {
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.by_id.values().any(|producer| producer.config.group == group)
    }

    /// The producer of a group.
    pub(crate) fn of_group(&self, group: &str) -> Option<ProducerId> {
        self.by_id.iter().find(|(_, producer)| producer.config.group == group).map(|(id, _)| *id)
    }

    /// An id that no producer has or will have.
    pub(crate) fn reserve(&mut self) -> ProducerId {
        let id = ProducerId(self.next);
        self.next += 1;
        id
    }

    pub(crate) fn insert(&mut self, config: ProducerConfig) -> ProducerId {
        let id = self.reserve();
        self.by_id.insert(
            id,
            Producer {
                config: Arc::new(config),
                faults: FaultTable::default(),
                admission: Admission::default(),
            },
        );
        id
    }

    pub(crate) fn get(&self, id: ProducerId) -> Option<&Arc<ProducerConfig>> {
        self.by_id.get(&id).map(|producer| &producer.config)
    }

    pub(crate) fn admission(&self, id: ProducerId) -> Option<&Admission> {
        self.by_id.get(&id).map(|producer| &producer.admission)
    }

    pub(crate) fn admission_mut(&mut self, id: ProducerId) -> Option<&mut Admission> {
        self.by_id.get_mut(&id).map(|producer| &mut producer.admission)
    }

    /// Messages that hold permits, their bytes, and sends that wait for one, over all producers.
    pub(crate) fn permits(&self) -> (usize, usize, usize) {
        self.by_id.values().map(|producer| &producer.admission).fold((0, 0, 0), |sum, of| {
            let (messages, bytes) = of.held();
            (sum.0 + messages, sum.1 + bytes, sum.2 + of.waiting())
        })
    }

    /// Brokers that are left alone, counted for each producer.
    pub(crate) fn isolated(&self, now: Instant) -> usize {
        self.by_id.values().map(|producer| producer.faults.isolated(now)).sum()
    }

    pub(crate) fn faults(&self, id: ProducerId) -> Option<&FaultTable> {
        self.by_id.get(&id).map(|producer| &producer.faults)
    }

    pub(crate) fn faults_mut(&mut self, id: ProducerId) -> Option<&mut FaultTable> {
        self.by_id.get_mut(&id).map(|producer| &mut producer.faults)
    }

    /// The tables of all producers.
    pub(crate) fn all_faults(&mut self) -> impl Iterator<Item = (ProducerId, &mut FaultTable)> {
        self.by_id.iter_mut().map(|(id, producer)| (*id, &mut producer.faults))
    }

    /// Brokers whose health is remembered, over all producers.
    pub(crate) fn fault_items(&self) -> usize {
        self.by_id.values().map(|producer| producer.faults.len()).sum()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = ProducerId> + '_ {
        self.by_id.keys().copied()
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.by_id.values().map(|producer| producer.config.group.as_str())
    }
}
