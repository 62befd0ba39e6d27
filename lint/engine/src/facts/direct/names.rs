//! The words of one text, each kept once.
//! Knows letters and keywords, no meaning.

use super::super::ir::Name;
use super::spelled::keyword;
use super::token::Kind;
use crate::index::{ByName, hash};
use std::cell::Cell;
use std::sync::Arc;

/// Words by number, each with what it is as a token: a keyword or a name.
pub(super) struct Table(ByName<Kind>);

/// Words that a table has room for at first.
const ROOM: usize = 256;
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
        LAST.take().unwrap_or_else(|| Table(ByName::with_room(ROOM)))
    }

    /// Keeps the words for the next text.
    pub(super) fn keep(self) {
        if self.0.len() <= KEPT {
            LAST.set(Some(self));
        }
    }

    /// The number of a word.
    pub(super) fn index(&mut self, word: &str) -> u32 {
        self.index_hashed(word, hash(word.as_bytes()))
    }

    /// The number of a word whose letters were mixed already.
    pub(super) fn index_hashed(&mut self, word: &str, hash: u32) -> u32 {
        self.0
            .number(word, hash, || (Arc::from(word), keyword(word.as_bytes()).map_or(Kind::Name, Kind::Word)))
    }

    /// The word of a number.
    pub(super) fn name(&self, index: u32) -> Name {
        self.0.at(index).0.clone()
    }

    /// The letters of a number.
    pub(super) fn text(&self, index: u32) -> &str {
        self.0.at(index).0
    }

    /// What the word of a number is as a token.
    pub(super) fn kind(&self, index: u32) -> Kind {
        *self.0.at(index).1
    }
}
