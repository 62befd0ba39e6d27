//! Export wrappers around records, peeled to a fixed point, partial lines joined.
//! Knows the shells of formats.md section 5; refuses to look at what the innermost record says.

mod envelope;
mod export;
mod jaeger;
mod logfmt;
mod logger;
mod otlp;
mod partial;
mod queue;
mod text;
mod tracing;

use super::Limits;
use super::record::{Batch, Record, Shipped, Span};
use super::trouble::Troubles;
use crate::event::Origin;
use partial::Partials;

/// Layers that are peeled (formats.md section 8, step 3).
const MOST_LAYERS: usize = 6;
/// A file whose first records have no wrapper has none: the rest is not looked at.
const SAMPLE: u64 = 256;

/// What one layer turned out to be.
enum Peeled {
    /// No wrapper.
    Bare,
    /// A wrapper around these; none for a control message.
    Inner(&'static str, Vec<Inner>),
    /// A piece of a line.
    Piece(Piece),
}

/// A record inside a wrapper.
struct Inner {
    text: Vec<u8>,
    shipped: Shipped,
    /// The wrapper kept no text for it.
    lost: bool,
}

impl Inner {
    fn new(text: impl Into<Vec<u8>>, shipped: Shipped) -> Self {
        Inner { text: text.into(), shipped, lost: false }
    }
}

/// A piece of a line that a container runtime cut up.
struct Piece {
    layer: &'static str,
    /// Pieces of one stream belong together.
    stream: Vec<u8>,
    text: Vec<u8>,
    last: bool,
    /// Its index among how many, where told: such pieces may come in any order.
    part: Option<(u64, u64)>,
    shipped: Shipped,
}

/// Peels the wrappers of one file's records.
pub(super) struct Peeler {
    limits: Limits,
    partials: Partials,
    seen: u64,
    layers: Vec<&'static str>,
}

impl Peeler {
    pub(super) fn new(limits: Limits) -> Self {
        Peeler { limits, partials: Partials::default(), seen: 0, layers: Vec::new() }
    }

    pub(super) fn layers(&self) -> impl Iterator<Item = &'static str> {
        self.layers.iter().copied()
    }

    /// Replaces the batch's records by what their wrappers hold.
    pub(super) fn peel(&mut self, batch: &mut Batch, troubles: &mut Troubles) {
        if self.seen >= SAMPLE && self.layers.is_empty() {
            return;
        }
        let mut out = Batch::default();
        let mut any = false;
        for record in batch.records() {
            if self.seen >= SAMPLE && self.layers.is_empty() {
                out.spans.push(copy(&mut out.peeled, record.origin, record.bytes));
                continue;
            }
            self.seen += 1;
            any |= self.peel_record(&record, &mut out, troubles);
        }
        if any || self.partials.waiting() {
            *batch = out;
        }
    }

    /// What pieces were still waiting for their rest when the file ended.
    pub(super) fn finish(&mut self) -> Option<Batch> {
        let mut out = Batch::default();
        for (origin, text, shipped) in self.partials.take() {
            place(&mut out, origin, &text, shipped);
        }
        (!out.is_empty()).then_some(out)
    }

    /// True if there was a wrapper.
    fn peel_record(&mut self, record: &Record<'_>, out: &mut Batch, troubles: &mut Troubles) -> bool {
        let mut todo = vec![(record.bytes.to_vec(), record.shipped.clone(), 0)];
        let mut any = false;
        while let Some((text, shipped, depth)) = todo.pop() {
            let peeled = if depth < MOST_LAYERS { peel_once(&text) } else { Peeled::Bare };
            match peeled {
                Peeled::Bare => place(out, record.origin, &text, shipped),
                Peeled::Inner(layer, inner) => {
                    any = true;
                    self.note_layer(layer);
                    let several = inner.len() > 1;
                    for (at, mut one) in inner.into_iter().enumerate().rev() {
                        // One delivery of several records is one of each: its id alone would make them copies of each other.
                        if several && let (None, Some(id)) = (&one.shipped.id, &shipped.id) {
                            one.shipped.id = Some(format!("{id}#{at}").into());
                        }
                        if one.lost {
                            troubles.note(
                                Some(record.origin.place),
                                "the exporter kept no text for this record",
                                "export it with its message",
                                true,
                            );
                            continue;
                        }
                        todo.push((trimmed(one.text), merged(one.shipped, &shipped), depth + 1));
                    }
                }
                Peeled::Piece(piece) => {
                    any = true;
                    self.note_layer(piece.layer);
                    let shipped = merged(piece.shipped.clone(), &shipped);
                    match self.partials.add(piece, record.origin, self.limits.max_record) {
                        Ok(Some(whole)) => todo.push((trimmed(whole), shipped, depth + 1)),
                        Ok(None) => {}
                        Err(()) => super::note_long(troubles, record.origin.place, &self.limits),
                    }
                }
            }
        }
        any
    }

    fn note_layer(&mut self, layer: &'static str) {
        if !self.layers.contains(&layer) {
            self.layers.push(layer);
        }
    }
}

fn peel_once(text: &[u8]) -> Peeled {
    match text.first() {
        Some(b'{') => envelope::peel(text),
        Some(b'[') => {
            export::peel_fields(text).or_else(|| export::peel_list(text)).unwrap_or_else(|| text::peel(text))
        }
        _ => text::peel(text),
    }
}

fn trimmed(mut text: Vec<u8>) -> Vec<u8> {
    text.truncate(text.trim_ascii_end().len());
    text
}

/// The inner wrapper's facts, with the outer's where it has none.
fn merged(inner: Shipped, outer: &Shipped) -> Shipped {
    Shipped {
        id: inner.id.or_else(|| outer.id.clone()),
        at: inner.at.or(outer.at),
        instance: inner.instance.or_else(|| outer.instance.clone()),
        capped: inner.capped || outer.capped,
    }
}

fn copy(to: &mut Vec<u8>, origin: Origin, text: &[u8]) -> Span {
    let start = to.len();
    to.extend_from_slice(text);
    Span { origin, at: start..to.len(), peeled: true, shipped: 0 }
}

fn place(out: &mut Batch, mut origin: Origin, text: &[u8], shipped: Shipped) {
    if text.trim_ascii().is_empty() {
        return;
    }
    // Records out of one wrapper stand at one place; their offsets stay apart, for the total order.
    if let Some(before) = out.spans.last()
        && before.origin.place == origin.place
        && before.origin.offset >= origin.offset
    {
        origin.offset = before.origin.offset + 1;
    }
    let mut span = copy(&mut out.peeled, origin, text);
    if shipped != Shipped::default() {
        out.shipped.push(shipped);
        span.shipped = u32::try_from(out.shipped.len()).expect("a batch holds fewer than 2^32 records");
    }
    out.spans.push(span);
}
