//! A table whose ids carry a generation, so that an id that outlived its entry finds nothing.

use alloc::vec::Vec;
use core::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot, self.generation)
    }
}

#[derive(Clone, Debug)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn insert(&mut self, value: T) -> Id {
        if let Some(slot) = self.free.pop() {
            let entry = &mut self.entries[slot as usize];
            entry.value = Some(value);
            return Id { slot, generation: entry.generation };
        }
        let slot = self.entries.len() as u32;
        self.entries.push(Entry { generation: 0, value: Some(value) });
        Id { slot, generation: 0 }
    }

    pub(crate) fn contains(&self, id: Id) -> bool {
        self.get(id).is_some()
    }

    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        let entry = self.entries.get(id.slot as usize)?;
        if entry.generation == id.generation { entry.value.as_ref() } else { None }
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let entry = self.entries.get_mut(id.slot as usize)?;
        if entry.generation == id.generation { entry.value.as_mut() } else { None }
    }

    /// Two entries, the first of them to change; they must not be the same.
    pub(crate) fn get_both(&mut self, first: Id, second: Id) -> Option<(&mut T, &T)> {
        if first.slot == second.slot || !self.contains(first) || !self.contains(second) {
            return None;
        }
        let slots = [first.slot as usize, second.slot as usize];
        let [first, second] = self.entries.get_disjoint_mut(slots).ok()?;
        Some((first.value.as_mut()?, second.value.as_ref()?))
    }

    pub(crate) fn remove(&mut self, id: Id) -> Option<T> {
        let entry = self.entries.get_mut(id.slot as usize)?;
        if entry.generation != id.generation {
            return None;
        }
        let value = entry.value.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(id.slot);
        Some(value)
    }

    /// Drops an entry where it is.
    pub(crate) fn clear(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(id.slot as usize)
            && entry.generation == id.generation
            && entry.value.is_some()
        {
            entry.value = None;
            entry.generation = entry.generation.wrapping_add(1);
            self.free.push(id.slot);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Id, &T)> {
        self.entries.iter().enumerate().filter_map(|(slot, entry)| {
            let id = Id { slot: slot as u32, generation: entry.generation };
            entry.value.as_ref().map(|value| (id, value))
        })
    }

    pub(crate) fn ids(&self) -> Vec<Id> {
        self.iter().map(|(id, _)| id).collect()
    }

    /// The id that the slot has now, if it is in use.
    pub(crate) fn id_at(&self, slot: u32) -> Option<Id> {
        let entry = self.entries.get(slot as usize)?;
        entry.value.as_ref().map(|_| Id { slot, generation: entry.generation })
    }
}
