//! A record: the bytes of one log entry, with where it stood and what its wrappers said of it.
//! Knows nothing of what is in it.

use crate::event::{Nanos, Origin};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One record of a file, wrappers already peeled off.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where it stands: line, or entry of a document.
    pub origin: Origin,
    /// Its bytes, without the line's end.
    pub bytes: &'a [u8],
    /// What the wrappers around it say.
    pub shipped: &'a Shipped,
}

/// What an export's wrapper says of a record. Facts of the record itself go before these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shipped {
    /// The delivery's id: the same twice means that the line was delivered twice.
    pub id: Option<Box<str>>,
    /// The wrapper's time, for records that have none.
    pub at: Option<Nanos>,
    /// Pod, host or stream that wrote it.
    pub instance: Option<Box<str>>,
    /// The export was cut at a row limit.
    pub capped: bool,
}

/// Records that were read in one go. They own their bytes, so a batch can be handed to another thread.
#[derive(Debug, Default)]
pub struct Batch {
    /// Bytes as they stood in the file.
    pub(crate) raw: Vec<u8>,
    /// Bytes that had to be decoded out of a wrapper.
    pub(crate) peeled: Vec<u8>,
    pub(crate) spans: Vec<Span>,
    pub(crate) shipped: Vec<Shipped>,
    /// Offset in the stream at which `raw` began; none if it is no piece of a stream of lines.
    pub(crate) base: Option<u64>,
}

/// Where a record's bytes stand in its batch.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) origin: Origin,
    pub(crate) at: Range<usize>,
    pub(crate) peeled: bool,
    /// Index into `shipped` plus one; 0: nothing.
    pub(crate) shipped: u32,
}

static UNSHIPPED: Shipped = Shipped { id: None, at: None, instance: None, capped: false };

impl<'a> Record<'a> {
    /// The same record with the hash of its bytes.
    pub(crate) fn sealed(self) -> Self {
        Record { origin: Origin { seal: crate::skim::seal(self.bytes), ..self.origin }, ..self }
    }

    /// A record without a wrapper.
    pub fn new(origin: Origin, bytes: &'a [u8]) -> Self {
        Record { origin, bytes, shipped: &UNSHIPPED }
    }
}

impl Batch {
    /// Its records, in the order of the file.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> + Clone {
        self.spans.iter().map(|span| Record {
            origin: span.origin,
            bytes: if span.peeled { &self.peeled[span.at.clone()] } else { &self.raw[span.at.clone()] },
            shipped: match span.shipped {
                0 => &UNSHIPPED,
                n => &self.shipped[n as usize - 1],
            },
        })
    }

    /// Whether a record's bytes stand in the stream as they are, at the offset of its origin.
    pub(crate) fn stands(&self, at: usize) -> bool {
        let span = &self.spans[at];
        let there = self.base.is_some_and(|base| base + span.at.start as u64 == span.origin.offset);
        there && !span.peeled && span.shipped == 0
    }

    /// Bytes of its records as they stood in the file, or as they were decoded.
    pub(crate) fn bytes(&self) -> u64 {
        self.raw.len().max(self.peeled.len()) as u64
    }

    /// How many records it holds.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}
