//! The words of one text, each kept once.
//! Knows letters, no meaning.

use super::super::ir::Name;
use std::sync::Arc;

/// Words by number: a table of few instructions, since this runs unoptimised in the builds of others.
pub(super) struct Table {
    names: Vec<Name>,
    /// Numbers of names plus one, by hash; a power of two long.
    slots: Vec<u32>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { names: Vec::with_capacity(128), slots: vec![0; 512] }
    }

    /// The number of a word.
    pub(super) fn index(&mut self, word: &str) -> u32 {
        if self.names.len() * 2 > self.slots.len() {
            self.grow();
        }
        let mut slot = hash(word.as_bytes()) & (self.slots.len() - 1);
        loop {
            match self.slots[slot] {
                0 => break,
                found => {
                    if &*self.names[found as usize - 1] == word {
                        return found - 1;
                    }
                }
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.names.push(Arc::from(word));
        self.slots[slot] = self.names.len() as u32;
        self.names.len() as u32 - 1
    }

    /// The word of a number.
    pub(super) fn name(&self, index: u32) -> Name {
        self.names[index as usize].clone()
    }

    /// The letters of a number.
    pub(super) fn text(&self, index: u32) -> &str {
        &self.names[index as usize]
    }

    fn grow(&mut self) {
        let length = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(length, 0);
        for at in 0..self.names.len() {
            let mut slot = hash(self.names[at].as_bytes()) & (length - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.slots[slot] = at as u32 + 1;
        }
    }
}

fn hash(word: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    let mut at = 0;
    while at < word.len() {
        hash = (hash ^ word[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize
}
