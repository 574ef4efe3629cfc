//! A map for keys that mostly come in rising order.

use alloc::collections::{BTreeMap, VecDeque};

/// What a [`BTreeMap`] does, with less work as long as each new key is greater than all that are there: such an entry goes to
/// the end of a row. One that is taken out of the row leaves a hole, so that the others stay where they are. Keys that come out
/// of order go into a map.
#[derive(Clone, Debug)]
pub(crate) struct RisingMap<K, V> {
    /// In the order of keys; neither begins nor ends with a hole, and has no more holes than entries.
    row: VecDeque<(K, Option<V>)>,
    holes: usize,
    rest: BTreeMap<K, V>,
}

impl<K, V> Default for RisingMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> RisingMap<K, V> {
    pub(crate) const fn new() -> Self {
        Self { row: VecDeque::new(), holes: 0, rest: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.row.len() - self.holes + self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.row.is_empty() && self.rest.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.row.clear();
        self.holes = 0;
        self.rest.clear();
    }
}

impl<K: Copy + Ord, V> RisingMap<K, V> {
    fn place(&self, key: &K) -> Option<usize> {
        // Mostly it is the first that is looked for, or a new one.
        let (first, last) = (&self.row.front()?.0, &self.row.back()?.0);
        if key <= first || key > last {
            return (key == first).then_some(0);
        }
        self.row.binary_search_by(|(of, _)| of.cmp(key)).ok()
    }

    /// Returns what was there.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.row.back().is_some_and(|(last, _)| *last >= key) {
            return match self.place(&key) {
                Some(place) => {
                    let before = self.row[place].1.replace(value);
                    self.holes -= usize::from(before.is_none());
                    before
                }
                None => self.rest.insert(key, value),
            };
        }
        // A key has one place.
        let before = if self.rest.is_empty() { None } else { self.rest.remove(&key) };
        self.row.push_back((key, Some(value)));
        before
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        match self.place(key) {
            Some(place) => self.row[place].1.as_ref(),
            None => self.rest.get(key),
        }
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self.place(key) {
            Some(place) => self.row[place].1.as_mut(),
            None => self.rest.get_mut(key),
        }
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        if self.row.front().is_some_and(|(first, _)| first == key) {
            return self.pop_row().map(|(_, value)| value);
        }
        let Some(place) = self.place(key) else { return self.rest.remove(key) };
        let value = self.row[place].1.take()?;
        self.holes += 1;
        self.close_up();
        Some(value)
    }

    pub(crate) fn first_key_value(&self) -> Option<(&K, &V)> {
        let in_row = self.row.front().and_then(|(key, value)| Some((key, value.as_ref()?)));
        match (in_row, self.rest.first_key_value()) {
            (Some(first), Some(other)) => Some(if first.0 < other.0 { first } else { other }),
            (first, other) => first.or(other),
        }
    }

    /// Takes out the first of the row.
    fn pop_row(&mut self) -> Option<(K, V)> {
        let (key, value) = self.row.pop_front()?;
        if self.holes > 0 {
            self.close_up();
        }
        value.map(|value| (key, value))
    }

    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        if self.rest.is_empty() {
            return self.pop_row();
        }
        let (key, _) = self.first_key_value()?;
        let key = *key;
        self.remove(&key).map(|value| (key, value))
    }

    fn close_up(&mut self) {
        while let Some((_, None)) = self.row.front() {
            self.row.pop_front();
            self.holes -= 1;
        }
        while let Some((_, None)) = self.row.back() {
            self.row.pop_back();
            self.holes -= 1;
        }
        if self.holes > self.row.len() - self.holes {
            self.row.retain(|(_, value)| value.is_some());
            self.holes = 0;
        }
    }

    /// In the order of keys only where all of them came so.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.row.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).chain(&self.rest)
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&V) -> bool) {
        self.row.retain(|(_, value)| value.as_ref().is_some_and(&keep));
        self.holes = 0;
        self.rest.retain(|_, value| keep(value));
    }

    /// In the order of keys.
    pub(crate) fn into_values(mut self) -> impl Iterator<Item = V> {
        core::iter::from_fn(move || self.pop_first().map(|(_, value)| value))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::rng::Rng;

    /// Any calls, with keys that rise or do not: it says what a `BTreeMap` says.
    #[test]
    fn it_is_a_map() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut map, mut model) = (RisingMap::new(), BTreeMap::new());
            let mut next = 0;
            for step in 0..300_u64 {
                let any = rng.next() % (next + 4);
                match rng.next() % 8 {
                    0..4 => {
                        next += rng.next() % 3;
                        assert_eq!(map.insert(next, step), model.insert(next, step));
                    }
                    4 => assert_eq!(map.insert(any, step), model.insert(any, step)),
                    5 => assert_eq!(map.remove(&any), model.remove(&any)),
                    6 => assert_eq!(map.pop_first(), model.pop_first()),
                    _ => {
                        map.retain(|value| value % 7 != seed % 7);
                        model.retain(|_, value| *value % 7 != seed % 7);
                    }
                }
                assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
                assert_eq!(map.first_key_value(), model.first_key_value());
                assert_eq!(
                    (map.get(&any), map.contains_key(&any)),
                    (model.get(&any), model.contains_key(&any))
                );
                assert_eq!(map.get_mut(&any), model.get_mut(&any));
            }
            let mut both: Vec<_> = map.iter().map(|(key, value)| (*key, *value)).collect();
            both.sort_unstable();
            assert!(both.into_iter().eq(model.clone()));
            assert!(map.into_values().eq(model.into_values()));
        }
    }

    /// One entry stays, and others come and go meanwhile.
    #[test]
    fn holes_are_no_more_than_entries() {
        let mut map = RisingMap::new();
        map.insert(0, ());
        for key in 1..10_000 {
            map.insert(key, ());
            map.insert(key + 10_000, ());
            map.remove(&key);
            map.remove(&(key + 10_000));
            assert!(map.row.len() + map.rest.len() <= 2 * map.len(), "{map:?}");
        }
        assert_eq!(map.len(), 1);
    }
}
