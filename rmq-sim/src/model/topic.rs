//! Topics as a broker keeps them.

use std::fmt;

use rmq_proto::body::{PERM_READ, PERM_WRITE};

use super::profile::ProfileRules;

/// A topic with this bit lends its settings to topics that are created by sending (wire §2.5).
pub(crate) const PERM_INHERIT: i32 = 1;

/// One topic of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    /// Its name.
    pub name: String,
    /// Queues that consumers read, from 0.
    pub read_queue_nums: i32,
    /// Queues that producers write, from 0.
    pub write_queue_nums: i32,
    /// Sum of 4 (read), 2 (write) and 1 (new topics may inherit from it) (wire §2.5).
    pub perm: i32,
}

impl TopicConfig {
    /// A topic that can be read and written, with `queues` queues for both.
    pub fn new(name: impl Into<String>, queues: i32) -> Self {
        Self {
            name: name.into(),
            read_queue_nums: queues,
            write_queue_nums: queues,
            perm: PERM_READ | PERM_WRITE,
        }
    }

    pub(crate) const fn lends_its_settings(&self) -> bool {
        self.perm & PERM_INHERIT != 0
    }

    /// The words of the remark of an illegal queue (wire §5.1).
    pub(crate) const fn described<'a>(&'a self, rules: &'a ProfileRules) -> impl fmt::Display + use<'a> {
        Described { topic: self, rules }
    }
}

struct Described<'a> {
    topic: &'a TopicConfig,
    rules: &'a ProfileRules,
}

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TopicConfig { name, read_queue_nums, write_queue_nums, perm } = self.topic;
        let letter = |bit, letter| if perm & bit == 0 { '-' } else { letter };
        write!(
            f,
            "TopicConfig [topicName={name}, readQueueNums={read_queue_nums}, \
             writeQueueNums={write_queue_nums}, perm={}{}{}, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false{}]",
            letter(PERM_READ, 'R'),
            letter(PERM_WRITE, 'W'),
            letter(PERM_INHERIT, 'X'),
            if self.rules.topic_attributes { ", attributes={}" } else { "" },
        )
    }
}
