//! Keys of messages: one for each, the same in all its attempts.

use std::collections::{BTreeMap, VecDeque};
use std::hash::Hasher;

use bytes::Bytes;
use rmq_core::proto::header::SendMessageV2Header;
use rmq_core::proto::message::ID_SEPARATOR;

use super::{ONE_KEY, ONE_TERMINAL_EVENT, WITHIN_POLICY};
use crate::hash::StableHasher;
use crate::oracle::Violation;

/// Keys that are remembered; the oldest beyond them are forgotten.
const REMEMBERED: usize = 16_384;

/// One attempt as it was written.
pub(super) struct Sent<'a> {
    pub(super) key: &'a str,
    pub(super) header: &'a SendMessageV2Header<'a>,
    pub(super) properties: &'a str,
    pub(super) body: &'a Bytes,
}

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Of what is the same in all attempts; none until one is written.
    digest: Option<u64>,
    written: usize,
    /// How often a broker that goes away did not act on it: it is written once more then, in the same attempt.
    sent_away: usize,
    /// Whether a broker answered that it stored the message.
    stored: bool,
    ended: bool,
    /// Whether it is that of a batch, not of a message.
    is_batch: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    uses: BTreeMap<Bytes, Use>,
    order: VecDeque<Bytes>,
    forgot: bool,
}

impl Keys {
    fn of(&mut self, key: &str) -> &mut Use {
        let key = Bytes::copy_from_slice(key.as_bytes());
        if !self.uses.contains_key(&key) {
            self.order.push_back(key.clone());
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.uses.remove(&oldest);
            self.forgot = true;
        }
        self.uses.entry(key).or_default()
    }

    pub(super) fn written(&mut self, sent: &Sent<'_>) -> Result<(), Violation> {
        let digest = digest(sent);
        let used = self.of(sent.key);
        used.written += 1;
        let before = used.digest.replace(digest);
        Violation::unless(!used.ended, ONE_TERMINAL_EVENT, || {
            format!("message {} is written after its end", sent.key)
        })?;
        Violation::unless(before.is_none_or(|before| before == digest), ONE_KEY, || {
            format!("key {} is on two different messages", sent.key)
        })
    }

    pub(super) fn stored(&mut self, key: &[u8]) {
        if let Some(used) = self.uses.get_mut(key) {
            used.stored = true;
        }
    }

    pub(super) fn sent_away(&mut self, key: &[u8]) {
        if let Some(used) = self.uses.get_mut(key) {
            used.sent_away += 1;
        }
    }

    /// A batch with this key was written.
    pub(super) fn batch(&mut self, key: &str) {
        self.of(key).is_batch = true;
    }

    /// The message, or each of a batch, ended after so many attempts, `stored` or not.
    pub(super) fn ended(&mut self, ids: &str, attempts: usize, stored: bool) -> Result<(), Violation> {
        ids.split(ID_SEPARATOR).try_for_each(|key| self.message_ended(key, attempts, stored))
    }

    fn message_ended(&mut self, key: &str, attempts: usize, stored: bool) -> Result<(), Violation> {
        let forgot = self.forgot;
        let used = self.of(key);
        if used.is_batch {
            return Ok(());
        }
        let twice = core::mem::replace(&mut used.ended, true);
        let Use { written, sent_away, stored: answered, .. } = *used;
        let most = attempts + sent_away.min(attempts);
        Violation::unless(!twice, ONE_KEY, || format!("two messages have the key {key}"))?;
        Violation::unless(written <= most, WITHIN_POLICY, || {
            format!(
                "message {key} was written {written} times in {attempts} attempts, and sent away {sent_away} times"
            )
        })?;
        Violation::unless(answered || !stored || forgot, ONE_TERMINAL_EVENT, || {
            format!("message {key} is Sent, but no broker said so")
        })
    }
}

fn digest(sent: &Sent<'_>) -> u64 {
    let header = sent.header;
    let mut digest = StableHasher::default();
    for part in [
        sent.properties.as_bytes(),
        header.topic.as_bytes(),
        header.producer_group.as_bytes(),
        &header.born_timestamp.to_be_bytes(),
        sent.body,
    ] {
        digest.write_usize(part.len());
        digest.write(part);
    }
    digest.value()
}
