//! Automatic batches: messages gather, go out together, and end one by one (producer §10.6).
//!
//! A batch is a [`SendOp`] like any other, but no operation of a user: its end is that of the operations that it carries. Those
//! keep their timers, so one may end before it, by its deadline or a cancel. Then it is in no attempt that is written
//! from then on.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use bytes::{BufMut, BytesMut};
use rmq_proto::command::EncodeError;
use rmq_proto::header::SendMessageV2Header;
use rmq_proto::message::{Prepared, PreparedBatch, batch_properties, join_ids};

use super::namespaces::enter_namespace;
use super::sending::most_bytes;
use super::{Client, Effect, Timer, encode};
use crate::config::{ProducerConfig, SendOptions};
use crate::error::SendErrorKind;
use crate::event::{Event, OpId, ProducerId, SendResult};
use crate::producer::{
    Batch, Group, GroupId, GroupKey, NewSend, Purpose, Riders, SendOp, Step, Target, element_len, part_of,
};

impl Client {
    /// The group of a message that is to wait for others; none when it goes out by itself.
    pub(super) fn group_for(
        &self,
        producer: ProducerId,
        config: &ProducerConfig,
        message: &Prepared,
        target: &Target,
        options: SendOptions,
    ) -> Option<GroupKey> {
        let auto = config.auto_batch.as_ref()?;
        let has_room =
            self.gathering.held_by(producer).saturating_add(message.body().len()) <= auto.total_bytes;
        let gathers = !options.oneway
            && options.timeout.is_none()
            && has_room
            && self.admit_at_once(producer, config, most_bytes(message)).is_ok()
            && message.may_join_batch();
        gathers.then(|| GroupKey::new(producer, message, target))
    }

    /// Lets a message wait in its group, which goes out when that makes it large enough.
    pub(super) fn gather(&mut self, mut send: SendOp, key: GroupKey) -> OpId {
        enter_namespace(self.config.rules.namespace.as_deref(), &mut send);
        let (body_len, element_len) = (send.body.len(), element_len(&send));
        let enough = send.config.auto_batch.map_or(0, |auto| auto.bytes);
        self.send_bytes += send.bytes();
        self.take_permit(&mut send);
        let group = self.group_with_room(&send, key, element_len);
        let op = OpId(self.sends.insert(send));
        let place = self.gathering.join(group, op, body_len, element_len);
        if let Some(send) = self.sends.get_mut(op.0) {
            send.step = Step::Gathered { group, place };
        }
        self.arm_send(op, None);
        if self.gathering.get(group).is_some_and(|group| group.body_bytes() > enough) {
            self.depart(group);
        }
        self.settle();
        op
    }

    /// The group of this key. One whose batch would be longer than a body may be goes out first.
    fn group_with_room(&mut self, send: &SendOp, key: GroupKey, more: usize) -> GroupId {
        if let Some(id) = self.gathering.find(&key) {
            let held = self.gathering.get(id).map_or(0, Group::encoded_bytes);
            if held + more <= self.config.message_rules().max_body_len {
                return id;
            }
            self.depart(id);
        }
        let id = self.gathering.begin(key);
        let delay = send.config.auto_batch.map_or(Duration::ZERO, |auto| auto.delay);
        if let Some(group) = self.gathering.get_mut(id) {
            self.timers.arm(&mut group.timer, self.now + delay, Timer::Group(id));
        }
        id
    }

    pub(super) fn group_timer(&mut self, id: GroupId) {
        if let Some(group) = self.gathering.get_mut(id) {
            group.timer = None;
        }
        self.depart(id);
    }

    /// Nothing comes that anybody could wait for.
    pub(super) fn depart_all(&mut self) {
        self.gathering.ids().into_iter().for_each(|id| self.depart(id));
    }

    /// A group goes out: one message as ever, several as a batch.
    fn depart(&mut self, id: GroupId) {
        let Some(mut group) = self.gathering.take(id) else { return };
        self.timers.disarm(&mut group.timer);
        match group.ops().as_slice() {
            [] => {}
            [only] => {
                if let Some(send) = self.sends.get_mut(only.0) {
                    send.step = Step::Resolve;
                    self.effects.push_back(Effect::Proceed(*only));
                }
            }
            several => self.embark(several, group.key.wait_store_ok),
        }
    }

    /// Begins a batch of these operations. Its time is over when the last of theirs is.
    fn embark(&mut self, members: &[OpId], wait_store_ok: bool) {
        let Some(first) = members.first().and_then(|op| self.sends.get(op.0)) else { return };
        let (producer, config) = (first.producer, first.config.clone());
        let (topic, target) = (first.topic.clone(), first.target.clone());
        let sends = members.iter().filter_map(|op| self.sends.get(op.0));
        let deadline = sends.map(|send| send.deadline).max().unwrap_or(self.now);
        let key = self.unique_keys.next(self.unix_ms());
        let new = NewSend {
            code: PreparedBatch::REQUEST_CODE,
            properties: batch_properties(wait_store_ok, Some(&key)),
            ..NewSend::nothing(topic, target, String::new())
        };
        let time = (self.now, deadline.saturating_since(self.now));
        let mut send = SendOp::new(producer, config, new, time, self.born_ms(), false);
        send.purpose = Purpose::Batch(Batch::automatic(key.to_string(), members.to_vec()));
        let batch = OpId(self.sends.insert(send));
        self.gathering.batches += 1;
        for op in members {
            if let Some(send) = self.sends.get_mut(op.0) {
                send.step = Step::Riding { batch };
            }
        }
        self.arm_send(batch, None);
        self.effects.push_back(Effect::Proceed(batch));
    }

    /// Takes a message out of its group.
    pub(super) fn leave_group(&mut self, group: GroupId, place: u64) {
        if let Some(mut emptied) = self.gathering.leave(group, place) {
            self.timers.disarm(&mut emptied.timer);
        }
    }

    /// Takes a message out of its batch. A batch that nobody is left in is taken back.
    pub(super) fn leave_batch(&mut self, batch: OpId) {
        let Some(riders) = self.sends.get_mut(batch.0).and_then(SendOp::riders_mut) else { return };
        riders.left = riders.left.saturating_sub(1);
        if riders.left == 0 {
            self.abandon(batch);
            self.end_attempt(batch);
            self.end_batch(batch);
        }
    }

    /// The time of an operation is over whose message is in a batch.
    pub(super) fn rider_timer(&mut self, op: OpId, batch: OpId) {
        let now = self.now;
        let Some(carrier) = self.sends.get_mut(batch.0) else { return };
        if carrier.riders().is_some_and(|riders| riders.left == 1) {
            // What befalls the last one befalls the batch, its connection and its broker.
            carrier.deadline = now;
            self.timers.disarm(&mut carrier.timer);
            return self.send_timer(batch);
        }
        let waiting = self.servers_asked(batch);
        self.inherit(op, batch);
        self.leave_batch(batch);
        let used_up = self.sends.get(op.0).is_some_and(|send| send.ended >= send.attempts_allowed());
        self.give_up(op, if used_up { SendErrorKind::AttemptsExhausted } else { waiting });
    }

    /// An operation takes over what befell its batch.
    fn inherit(&mut self, op: OpId, batch: OpId) {
        let now = self.now;
        let Some((send, batch)) = self.sends.get_both(op.0, batch.0) else { return };
        send.inherit(batch, now);
    }

    /// The operations of a batch that have not ended, with their places in it.
    fn left_in(&self, batch: OpId) -> Vec<(usize, OpId)> {
        let Some(riders) = self.sends.get(batch.0).and_then(SendOp::riders) else { return Vec::new() };
        let rides = |op: &OpId| self.sends.get(op.0).is_some_and(|send| send.rides_in(batch));
        riders.members.iter().copied().enumerate().filter(|(_, op)| rides(op)).collect()
    }

    /// The bytes of a send are about to be made: if it is a batch, it carries whoever is left.
    pub(super) fn board(&mut self, batch: OpId) {
        if self.sends.get(batch.0).and_then(SendOp::riders).is_none() {
            return;
        }
        let left: Vec<OpId> = self.left_in(batch).into_iter().map(|(_, op)| op).collect();
        let ids = left.iter().filter_map(|op| self.sends.get(op.0)).map(SendOp::message_id);
        let message_ids = join_ids(ids);
        let Some(send) = self.sends.get_mut(batch.0) else { return };
        if let Some(riders) = send.riders_mut() {
            riders.members = left;
            send.name(message_ids);
        }
    }

    /// Each operation of a stored batch is told its part.
    pub(super) fn stored_batch(&mut self, batch: OpId, result: &SendResult) {
        for (place, op) in self.left_in(batch) {
            self.end(op, |send| Event::Sent { op, result: part_of(result, place, send.message_id()) });
        }
        self.end_batch(batch);
    }

    /// A stored batch is tried again, as its status asks for it: each operation keeps its part.
    pub(super) fn keep_parts(&mut self, batch: OpId) {
        let result = self.sends.get_mut(batch.0).and_then(SendOp::take_not_stored_ok);
        let Some(result) = result else { return };
        for (place, op) in self.left_in(batch) {
            if let Some(send) = self.sends.get_mut(op.0) {
                let part = part_of(&result, place, send.message_id());
                send.keep(part);
            }
        }
    }

    /// Each operation of a batch that is given up fails as it did.
    pub(super) fn give_up_batch(&mut self, batch: OpId, kind: &SendErrorKind) {
        for (_, op) in self.left_in(batch) {
            self.inherit(op, batch);
            self.give_up(op, kind.clone());
        }
        self.end_batch(batch);
    }

    /// Bytes of what a batch carries.
    pub(super) fn carried_len(&self, carrier: &SendOp) -> usize {
        let members = carrier.riders().map_or(&[][..], |riders| &riders.members);
        members.iter().filter_map(|op| self.sends.get(op.0)).map(element_len).sum()
    }

    /// The frame of a batch. One message that is left alone goes out as ever.
    pub(super) fn encode_riders(
        &self,
        carrier: &SendOp,
        riders: &Riders,
        opaque: i32,
        out: &mut encode::Batch,
    ) -> Result<(), EncodeError> {
        let sends: Vec<&SendOp> = riders.members.iter().filter_map(|op| self.sends.get(op.0)).collect();
        if let [only] = *sends {
            let header = SendMessageV2Header {
                sys_flag: only.sys_flag,
                flag: only.flag,
                properties: Some(Cow::Borrowed(&only.properties)),
                batch: Some(false),
                ..encode::send_header(carrier)
            };
            let head = self.head(only.code.0, opaque, 0, None);
            return self.frame_to(out, &head, &header, &only.body);
        }
        let mut body = BytesMut::with_capacity(sends.iter().map(|send| element_len(send)).sum());
        for send in sends {
            let element = send.element_head();
            element.put_before_body(&mut body);
            body.put_slice(&send.body);
            element.put_before_properties(&mut body);
            body.put_slice(send.properties.as_bytes());
        }
        let head = self.head(carrier.code.0, opaque, 0, None);
        self.frame_to(out, &head, &encode::send_header(carrier), &body.freeze())
    }

    fn end_batch(&mut self, batch: OpId) {
        if let Some(mut send) = self.sends.remove(batch.0) {
            self.timers.disarm(&mut send.timer);
            self.gathering.batches -= 1;
        }
    }
}
