//! Maps that are asked far more often than they are filled: with a hash of few instructions.
//! Refuses keys from a network: the names in a crate are its owner's, and nobody floods a lint of his own code.

use crate::facts::ir::Name;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by a fast hash, the same in every run.
pub(crate) type Index<K, V> = HashMap<K, V, BuildHasherDefault<Mixed>>;

/// Multiplies to twice the width and folds, eight bytes at a time, as `foldhash` does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixed(u64);

impl Mixed {
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide as u64) ^ (wide >> 64) as u64 ^ 0x2545_f491_4f6c_dd1d;
    }
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, figure: u8) {
        self.mix(u64::from(figure));
    }

    fn write_u32(&mut self, figure: u32) {
        self.mix(u64::from(figure));
    }

    fn write_usize(&mut self, figure: usize) {
        self.mix(figure as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A map by name for what is asked most: by hand, since a map made for any key takes ten times the instructions where
/// nothing is optimised.
#[derive(Clone, Debug)]
pub(crate) struct ByName<V> {
    entries: Vec<Entry<V>>,
    /// Numbers of entries plus one, by hash; a power of two long, or nothing yet.
    slots: Box<[u32]>,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    name: Name,
    hash: u32,
    value: V,
}

impl<V> Default for ByName<V> {
    fn default() -> Self {
        ByName { entries: Vec::new(), slots: Box::default() }
    }
}

impl<V> ByName<V> {
    /// With room for so many names before it grows; a power of two.
    pub(crate) fn with_room(names: usize) -> Self {
        ByName { entries: Vec::with_capacity(names), slots: vec![0; names * 2].into_boxed_slice() }
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The name of a number, with its value.
    pub(crate) fn at(&self, number: u32) -> (&Name, &V) {
        let entry = &self.entries[number as usize];
        (&entry.name, &entry.value)
    }

    /// The value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        if self.entries.is_empty() {
            return None;
        }
        match self.slots[self.slot(name, hash(name.as_bytes()))] {
            0 => None,
            number => Some(&self.entries[number as usize - 1].value),
        }
    }

    /// Whether the name has a value.
    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Every name, in the order in which they came.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        self.entries.iter().map(|entry| &entry.name)
    }

    /// Every value.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }

    /// The value of a name, made where there is none yet.
    pub(crate) fn or_insert_with(&mut self, name: &Name, make: impl FnOnce() -> V) -> &mut V {
        let number = self.number(name, hash(name.as_bytes()), || (name.clone(), make()));
        &mut self.entries[number as usize].value
    }

    /// The number of a name whose letters were [`mix`]ed already, made where it has none yet.
    pub(crate) fn number(&mut self, name: &str, hash: u32, make: impl FnOnce() -> (Name, V)) -> u32 {
        if (self.entries.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(name, hash);
        if self.slots[slot] == 0 {
            let (name, value) = make();
            self.entries.push(Entry { name, hash, value });
            self.slots[slot] = self.entries.len() as u32;
        }
        self.slots[slot] - 1
    }

    /// Where the name's number stands, or would stand.
    fn slot(&self, name: &str, hash: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = first_slot(hash) & mask;
        while self.slots[slot] != 0 {
            let entry = &self.entries[self.slots[slot] as usize - 1];
            if entry.hash == hash && &*entry.name == name {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let length = (self.slots.len() * 4).max(16);
        let mut slots = vec![0; length].into_boxed_slice();
        let mut at = 0;
        while at < self.entries.len() {
            let mut slot = first_slot(self.entries[at].hash) & (length - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            at += 1;
            slots[slot] = at as u32;
        }
        self.slots = slots;
    }
}

impl<V: Default> ByName<V> {
    /// The value of a name, the default where there is none yet.
    pub(crate) fn or_default(&mut self, name: &Name) -> &mut V {
        self.or_insert_with(name, V::default)
    }
}

/// The hash of no letters.
pub(crate) const HASH: u32 = 0x811c_9dc5;

/// The hash with one letter more (FNV-1a).
pub(crate) const fn mix(hash: u32, letter: u8) -> u32 {
    (hash ^ letter as u32).wrapping_mul(0x0100_0193)
}

/// The hash of a name.
pub(crate) fn hash(letters: &[u8]) -> u32 {
    let mut hash = HASH;
    let mut at = 0;
    while at < letters.len() {
        hash = mix(hash, letters[at]);
        at += 1;
    }
    hash
}

/// Where the search begins: the low bits alone are those of the last letters.
fn first_slot(hash: u32) -> usize {
    (hash ^ (hash >> 15)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_by_name_gives_back_what_was_put_in() {
        let mut map: ByName<usize> = ByName::default();
        assert_eq!(map.get("call_0"), None);
        for at in 0..1000 {
            *map.or_default(&Name::from(format!("call_{at}"))) += at;
            assert_eq!(*map.or_insert_with(&Name::from(format!("call_{at}")), || 0), at);
        }
        for at in 0..1000 {
            assert_eq!(map.get(&format!("call_{at}")), Some(&at));
        }
        assert!(!map.contains_key("call_1000") && !map.contains_key(""));
        map.values_mut().for_each(|value| *value += 1);
        assert_eq!(map.get("call_7"), Some(&8));
    }

    #[test]
    fn like_names_do_not_share_a_hash() {
        let of = |text: &str| {
            let mut hash = Mixed::default();
            hash.write(text.as_bytes());
            hash.write_u8(0xff);
            hash.finish()
        };
        let names: Vec<u64> = (0..10_000).map(|at| of(&format!("call_{at}"))).collect();
        let full: std::collections::BTreeSet<&u64> = names.iter().collect();
        assert_eq!(full.len(), names.len());
        let buckets: std::collections::BTreeSet<u64> = names.iter().map(|hash| hash & 0xfff).collect();
        assert!(buckets.len() > 3_500, "{} of 4096 buckets", buckets.len());
    }
}
