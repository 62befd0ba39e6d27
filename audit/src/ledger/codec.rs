//! Events as few bytes, one after the other: what a client's events have in common is written once.
//! Knows serde's data model and no event; what was written is read back equal, in order, from the start.
//!
//! Texts that were written before are named by their place among the last [`RECENT`]; absences, truths and small choices
//! are packed; times are differences. Writer and reader keep the same state, so a stream is read from its beginning.

mod read;
mod write;

pub(super) use read::Reader;
pub(super) use write::Writer;

/// Texts that can be named again. A client's program, address and sessions recur; event ids do not.
const RECENT: usize = 64;
/// Shorter texts cost no more than their name.
const SHORT: usize = 3;
/// The largest number written in its first byte; above it, that byte tells how many follow.
const ONE_BYTE: u64 = 247;
/// Numbers below this are written as they are, larger ones (times) as a difference to the last large one.
const LARGE: u64 = 1 << 40;

/// The texts that were written last, each where it stands among the bytes.
#[derive(Clone, Debug)]
struct Recent<T> {
    texts: Vec<T>,
    next: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent { texts: Vec::new(), next: 0 }
    }
}

impl<T> Recent<T> {
    /// Puts a text in the place of the oldest, and gives this place.
    fn push(&mut self, text: T) -> usize {
        if self.texts.len() < RECENT {
            self.texts.push(text);
            return self.texts.len() - 1;
        }
        let at = self.next;
        self.texts[at] = text;
        self.next = (at + 1) % RECENT;
        at
    }

    fn get(&self, at: usize) -> Option<&T> {
        self.texts.get(at)
    }
}

/// What is left over of a byte that holds several small values.
#[derive(Clone, Copy, Debug, Default)]
struct Packed {
    at: usize,
    left: u32,
}

/// Why an event could not be written or read. Neither happens to bytes that this module wrote itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodecError {
    /// The bytes end too early or hold what was never written.
    #[error("the stored events are damaged")]
    Damaged,
    /// A type that no event has.
    #[error("{0}")]
    Type(String),
}

impl serde::ser::Error for CodecError {
    fn custom<T: std::fmt::Display>(what: T) -> Self {
        CodecError::Type(what.to_string())
    }
}

impl serde::de::Error for CodecError {
    fn custom<T: std::fmt::Display>(what: T) -> Self {
        CodecError::Type(what.to_string())
    }
}

#[cfg(test)]
mod tests;
