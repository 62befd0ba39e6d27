//! What those hold that cut a text into objects by themselves: the bytes that are not cut yet, and where they stand.
//! Knows how more of them come, and how an object is handed on; what is cut where is for who cuts.

use super::Limits;
use super::bytes::ByteStream;
use super::record::{Batch, Span};
use super::trouble::Troubles;
use crate::event::{Origin, Place};

/// Bytes of a file that wait to be cut.
pub(super) struct Stock {
    file: u32,
    pub(super) held: Vec<u8>,
    /// Offset of `held` in the stream, and lines before it.
    pub(super) offset: u64,
    pub(super) line: u64,
    /// No more bytes come.
    pub(super) ended: bool,
}

impl Stock {
    pub(super) fn new(file: u32, held: Vec<u8>, offset: u64, line: u64) -> Self {
        Stock { file, held, offset, line, ended: false }
    }

    /// The line that is cut next.
    pub(super) fn place(&self) -> Place {
        Place::Line(self.line + 1)
    }

    /// Hands on what stands `from` bytes behind the start as an object: names as JSON, values as text.
    pub(super) fn put<'a>(
        &self,
        from: u64,
        members: impl Iterator<Item = (&'a str, &'a [u8])>,
        batch: &mut Batch,
    ) {
        let start = batch.raw.len();
        for (at, (name, value)) in members.enumerate() {
            batch.raw.push(if at == 0 { b'{' } else { b',' });
            batch.raw.extend_from_slice(name.as_bytes());
            batch.raw.push(b':');
            batch.raw.extend_from_slice(json(&String::from_utf8_lossy(value)).as_bytes());
        }
        batch.raw.push(b'}');
        batch.spans.push(Span {
            origin: Origin { seal: 0, file: self.file, offset: self.offset + from, place: self.place() },
            at: start..batch.raw.len(),
            peeled: false,
            shipped: 0,
        });
    }
}

/// Cuts a text of which some is held.
pub(super) trait Cut {
    /// What is held.
    fn stock(&mut self) -> &mut Stock;

    /// Takes what is whole off what is held; at the end of the file all of it.
    fn cut(&mut self, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch);

    /// The next objects; `None` at the end of the file.
    fn next(&mut self, bytes: &mut ByteStream, limits: &Limits, troubles: &mut Troubles) -> Option<Batch> {
        let mut batch = Batch::default();
        loop {
            self.cut(limits, troubles, &mut batch);
            let stock = self.stock();
            if stock.ended || !batch.is_empty() {
                return (!batch.is_empty() || !stock.ended).then_some(batch);
            }
            match bytes.fill(&mut stock.held, limits.chunk) {
                Ok(0) => stock.ended = true,
                Ok(_) => {}
                Err(e) => {
                    stock.ended = true;
                    super::note_broken(troubles, Some(stock.place()), &e);
                }
            }
        }
    }
}

/// How many lines end in some bytes.
pub(super) fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// A text as JSON.
pub(super) fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always JSON")
}
