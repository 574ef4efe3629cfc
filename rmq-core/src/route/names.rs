//! Topics by name.

use alloc::collections::BTreeMap;

use super::TopicId;

/// An index by hashes. A tree of names reads a text that lies somewhere else at each step, which is slow once there are many.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Names with one hash are told apart by a number.
    by_hash: BTreeMap<(u64, u32), TopicId>,
}

impl Names {
    pub(crate) const fn new() -> Self {
        Self { by_hash: BTreeMap::new() }
    }

    /// The topic of this name; `is_it` says whether a topic has it.
    pub(crate) fn find(&self, name: &str, is_it: impl Fn(TopicId) -> bool) -> Option<TopicId> {
        let hash = hash(name);
        // Nearly always it is alone with its hash.
        let first = self.by_hash.get(&(hash, 0)).copied().filter(|id| is_it(*id));
        first.or_else(|| {
            self.by_hash.range((hash, 0)..=(hash, u32::MAX)).map(|(_, id)| *id).find(|id| is_it(*id))
        })
    }

    /// The name is not there yet.
    pub(crate) fn insert(&mut self, name: &str, id: TopicId) {
        let hash = hash(name);
        let last = self.by_hash.range((hash, 0)..=(hash, u32::MAX)).next_back();
        let number = last.map_or(0, |((_, number), _)| number + 1);
        self.by_hash.insert((hash, number), id);
    }

    pub(crate) fn remove(&mut self, name: &str, id: TopicId) {
        let hash = hash(name);
        let mut places = self.by_hash.range((hash, 0)..=(hash, u32::MAX));
        if let Some(place) = places.find(|(_, of)| **of == id).map(|(place, _)| *place) {
            self.by_hash.remove(&place);
        }
    }
}

/// Eight bytes at a time. Names are a user's own, so nobody makes them collide.
fn hash(name: &str) -> u64 {
    let (mut rest, mut hash) = (name.as_bytes(), name.len() as u64);
    while let Some((word, after)) = rest.split_first_chunk() {
        (rest, hash) = (after, mix(hash, u64::from_le_bytes(*word)));
    }
    let last = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    mix(hash, last)
}

fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::slab::Id;

    fn id(slot: u32) -> TopicId {
        TopicId(Id { slot, generation: 0 })
    }

    #[test]
    fn names_are_found_until_they_are_removed() {
        let names: Vec<String> = (0..1_000).map(|number| format!("topic-{number}")).collect();
        let is = |name: &str| {
            let name = String::from(name);
            let names = &names;
            move |id: TopicId| names[id.0.slot as usize] == name
        };
        let mut index = Names::new();
        for (slot, name) in names.iter().enumerate() {
            assert_eq!(index.find(name, is(name)), None);
            index.insert(name, id(slot as u32));
        }
        for (slot, name) in names.iter().enumerate() {
            assert_eq!(index.find(name, is(name)), Some(id(slot as u32)));
            index.remove(name, id(slot as u32));
            assert_eq!(index.find(name, is(name)), None);
        }
        assert!(index.by_hash.is_empty());
    }

    /// As if two names had one hash.
    #[test]
    fn names_with_one_hash_are_told_apart() {
        let mut index = Names::new();
        for slot in 0..3 {
            index.insert("same", id(slot));
        }
        index.remove("same", id(1));
        assert_eq!(index.find("same", |found| found == id(2)), Some(id(2)));
        assert_eq!(index.find("same", |found| found == id(1)), None);
        index.insert("same", id(4));
        assert_eq!(index.by_hash.len(), 3);
    }
}
