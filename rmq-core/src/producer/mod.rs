//! Producers and the sends they are asked for.

mod send;

pub(crate) use send::{NewSend, Progress, SendOp, Stage, Step, Verdict};

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use crate::config::ProducerConfig;
use crate::event::ProducerId;

/// The producers of one client, by group; in the order they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Producers {
    by_id: BTreeMap<ProducerId, Arc<ProducerConfig>>,
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
        self.by_id.values().any(|config| config.group == group)
    }

    pub(crate) fn insert(&mut self, config: ProducerConfig) -> ProducerId {
        let id = ProducerId(self.next);
        self.next += 1;
        self.by_id.insert(id, Arc::new(config));
        id
    }

    pub(crate) fn get(&self, id: ProducerId) -> Option<&Arc<ProducerConfig>> {
        self.by_id.get(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = ProducerId> + '_ {
        self.by_id.keys().copied()
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.by_id.values().map(|config| config.group.as_str())
    }
}
