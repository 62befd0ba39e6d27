//! A client that waits for its judgement, as few bytes in memory or in the temporary file.
//! Knows records as bytes; not what they say.

use super::codec::Writer;
use super::spill::{Piece, Spill};
use crate::event::Nanos;

/// Bytes of one client from which on they are worth a place in the temporary file.
const WORTH: usize = 64;

/// One client that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(super) key: u64,
    pub(super) writer: Writer,
    pub(super) skims: Vec<u8>,
    /// How many records it has.
    pub(super) records: u32,
    /// The first moment of what was not counted yet.
    pub(super) first: Nanos,
    pub(super) last: Nanos,
    /// When a part of it was judged last.
    pub(super) judged: Nanos,
    pub(super) away: Vec<Piece>,
    pub(super) skims_away: Vec<Piece>,
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting {
            key: 0,
            writer: Writer::default(),
            skims: Vec::new(),
            records: 0,
            first: Nanos::MAX,
            last: Nanos::MIN,
            judged: Nanos::MIN,
            away: Vec::new(),
            skims_away: Vec::new(),
        }
    }
}

impl Waiting {
    pub(super) fn note(&mut self, first: Nanos, last: Nanos, counted: bool) {
        if !counted {
            self.first = self.first.min(first);
        }
        self.last = self.last.max(last);
        self.records += 1;
    }

    pub(super) fn size(&self) -> usize {
        self.writer.size() + self.skims.capacity()
    }

    /// Moves what it holds into the temporary file; gives how many bytes that were.
    pub(super) fn spill(&mut self, spill: &mut Spill) -> Result<u64, ()> {
        let mut moved = 0;
        for (bytes, away) in
            [(&mut self.writer.bytes, &mut self.away), (&mut self.skims, &mut self.skims_away)]
        {
            if bytes.len() >= WORTH {
                away.push(spill.put(bytes)?);
                moved += bytes.len() as u64;
                *bytes = Vec::new();
            }
        }
        if self.writer.bytes.is_empty() {
            // What comes next is written from a fresh start, so that a client that waits in the file takes no memory.
            self.writer = Writer::default();
        }
        Ok(moved)
    }
}
