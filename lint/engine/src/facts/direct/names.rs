//! The words of one text, each kept once.
//! Knows letters and keywords, no meaning.

use super::super::ir::Name;
use super::spelled::keyword;
use super::token::Kind;
use std::cell::Cell;
use std::sync::Arc;

/// Words by number: a table of few instructions, since this runs unoptimised in the builds of others.
pub(super) struct Table {
    words: Vec<Word>,
    /// Numbers of words plus one, by hash; a power of two long.
    slots: Box<[u32]>,
}

struct Word {
    name: Name,
    hash: u32,
    /// What it is as a token: a keyword or a name.
    kind: Kind,
}

/// More words than this are not kept for the next text.
const KEPT: usize = 1 << 14;

thread_local! {
    /// The table of the text before: the items of one crate are made of the same words, and a macro reads one after the
    /// other. A word that is there already is not made anew.
    static LAST: Cell<Option<Table>> = const { Cell::new(None) };
}

impl Table {
    /// The table of the text before, or a new one.
    pub(super) fn take() -> Table {
        LAST.take().unwrap_or_else(|| Table { words: Vec::with_capacity(128), slots: Box::new([0; 512]) })
    }

    /// Keeps the words for the next text.
    pub(super) fn keep(self) {
        if self.words.len() <= KEPT {
            LAST.set(Some(self));
        }
    }

    /// The number of a word.
    pub(super) fn index(&mut self, word: &str) -> u32 {
        let mut hash = HASH;
        let bytes = word.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            hash = mix(hash, bytes[at]);
            at += 1;
        }
        self.index_hashed(word, hash)
    }

    /// The number of a word whose letters were [`mix`]ed already.
    pub(super) fn index_hashed(&mut self, word: &str, hash: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = (hash ^ (hash >> 15)) as usize & mask;
        while self.slots[slot] != 0 {
            let number = self.slots[slot] - 1;
            let known = &self.words[number as usize];
            if known.hash == hash && &*known.name == word {
                return number;
            }
            slot = (slot + 1) & mask;
        }
        let number = self.words.len() as u32;
        let kind = keyword(word.as_bytes()).map_or(Kind::Name, Kind::Word);
        self.words.push(Word { name: Arc::from(word), hash, kind });
        self.slots[slot] = number + 1;
        if self.words.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    /// The word of a number.
    pub(super) fn name(&self, index: u32) -> Name {
        self.words[index as usize].name.clone()
    }

    /// The letters of a number.
    pub(super) fn text(&self, index: u32) -> &str {
        &self.words[index as usize].name
    }

    /// What the word of a number is as a token.
    pub(super) fn kind(&self, index: u32) -> Kind {
        self.words[index as usize].kind
    }

    fn grow(&mut self) {
        let length = self.slots.len() * 4;
        self.slots = vec![0; length].into_boxed_slice();
        for (number, word) in self.words.iter().enumerate() {
            let mut slot = (word.hash ^ (word.hash >> 15)) as usize & (length - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.slots[slot] = number as u32 + 1;
        }
    }
}

/// The hash of no letters.
pub(super) const HASH: u32 = 0x811c_9dc5;

/// The hash with one letter more.
pub(super) const fn mix(hash: u32, letter: u8) -> u32 {
    (hash ^ letter as u32).wrapping_mul(0x0100_0193)
}
