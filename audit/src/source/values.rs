//! Cuts JSON documents into their entries while they stream by: HAR, arrays, exports with one list inside.
//! Knows where lists of records stand in the documents of formats.md; refuses to hold more than one record.

use super::Limits;
use super::bytes::ByteStream;
use super::nul::note_nuls;
use super::record::{Batch, Span};
use super::scan::Scan;
use super::trouble::Troubles;
use crate::event::{Origin, Place};

/// Where documents keep their records (formats.md sections 1.2, 1.3, 4, 5; `Records`, `records`: CloudTrail, Azure;
/// `result`, `trace`, `batches`: spans as Jaeger's and Tempo's APIs give them).
const LISTS: [&[&[u8]]; 16] = [
    &[b"log", b"entries"],
    &[b"events"],
    &[b"logEvents"],
    &[b"results"],
    &[b"hits", b"hits"],
    &[b"data", b"result"],
    &[b"data"],
    &[b"resourceSpans"],
    &[b"resourceLogs"],
    &[b"result", b"resourceSpans"],
    &[b"trace", b"resourceSpans"],
    &[b"batches"],
    &[b"records"],
    &[b"Records"],
    &[b"logs"],
    &[b"responses"],
];
/// Deepest object whose keys matter for `LISTS`.
const KEY_DEPTH: u64 = 2;
/// How much of a document before its list is kept for the reader (HAR: the creator).
const MOST_PREFACE: usize = 16 * 1024;

/// Cuts values.
pub(super) struct Values {
    file: u32,
    held: Vec<u8>,
    /// Offset of `held` in the stream.
    offset: u64,
    /// Bytes of `held` that were scanned.
    scanned: usize,
    scan: Scan,
    /// Keys on the way down, while all containers are objects.
    path: Vec<Vec<u8>>,
    objects: u64,
    string_from: usize,
    last_string: Vec<u8>,
    /// Depth inside the list whose elements are records.
    list: Option<u64>,
    /// Start of the value being kept.
    from: Option<usize>,
    /// The value being read is too large and is dropped.
    dropping: bool,
    had_list: bool,
    /// Inside an element of the list that is a bare value.
    bare: bool,
    entries: u64,
    preface: Vec<u8>,
    /// Inside a run of NUL bytes between documents.
    in_nuls: bool,
    ended: bool,
}

impl Values {
    /// `offset`: that of `head` in the stream; what stands before it are NUL bytes.
    pub(super) fn new(file: u32, head: Vec<u8>, offset: u64) -> Self {
        let bom = head.starts_with(b"\xef\xbb\xbf");
        Values {
            file,
            held: head,
            offset,
            scanned: if bom { 3 } else { 0 },
            scan: Scan::default(),
            path: Vec::new(),
            objects: 0,
            string_from: 0,
            last_string: Vec::new(),
            list: None,
            from: None,
            dropping: false,
            had_list: false,
            bare: false,
            entries: 0,
            preface: Vec::new(),
            in_nuls: false,
            ended: false,
        }
    }

    /// The document's text before its list, as far as it was read.
    pub(super) fn preface(&self) -> &[u8] {
        &self.preface
    }

    /// The next records; `None` at the end of the file.
    pub(super) fn next(
        &mut self,
        bytes: &mut ByteStream,
        limits: &Limits,
        troubles: &mut Troubles,
    ) -> Option<Batch> {
        let mut batch = Batch::default();
        loop {
            self.step(limits, troubles, &mut batch);
            if self.ended || batch.raw.len() >= limits.chunk {
                break;
            }
            match bytes.fill(&mut self.held, limits.chunk) {
                Ok(0) => self.end(None, troubles),
                Ok(_) => {}
                Err(e) => self.end(Some(e), troubles),
            }
        }
        (!batch.is_empty() || !self.ended).then_some(batch)
    }

    fn end(&mut self, broken: Option<std::io::Error>, troubles: &mut Troubles) {
        self.ended = true;
        let place = Some(Place::Entry(self.entries + 1));
        match broken {
            Some(e) => super::note_broken(troubles, place, &e),
            None if self.scan.depth > 0 => troubles.note(
                place,
                "the document ends in the middle",
                "export it again; the entries before the break were read",
                true,
            ),
            None => {}
        }
    }

    /// Scans what is held and lets go of what no record needs.
    fn step(&mut self, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch) {
        while self.scanned < self.held.len() {
            let at = self.scanned;
            self.scanned += 1;
            self.feed(at, limits, troubles, batch);
        }
        if self.from.is_some_and(|from| self.held.len() - from > limits.max_record) && !self.dropping {
            self.too_large(limits, troubles);
        }
        let keep = if self.dropping { self.scanned } else { self.from.unwrap_or(self.scanned) };
        // A key that is still being read is short; one that is not is no key of a list.
        let keep = if self.scan.in_string() && self.watches_keys() {
            keep.min(self.string_from.max(self.scanned.saturating_sub(64)))
        } else {
            keep
        };
        self.held.drain(..keep);
        self.offset += keep as u64;
        self.scanned -= keep;
        self.string_from = self.string_from.saturating_sub(keep);
        self.from = self.from.map(|from| from.saturating_sub(keep));
    }

    fn watches_keys(&self) -> bool {
        self.list.is_none() && self.objects == self.scan.depth && (1..=KEY_DEPTH).contains(&self.scan.depth)
    }

    fn feed(&mut self, at: usize, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch) {
        let byte = self.held[at];
        let (depth, was_in_string) = (self.scan.depth, self.scan.in_string());
        self.scan.feed(byte);
        if was_in_string {
            if !self.scan.in_string() && self.watches_keys() {
                self.last_string.clear();
                let text = &self.held[(self.string_from + 1).min(at)..at];
                self.last_string.extend_from_slice(&text[..text.len().min(32)]);
            }
            return;
        }
        if self.list == Some(depth) {
            self.note_bare(byte, troubles);
        }
        let in_nuls = std::mem::replace(&mut self.in_nuls, depth == 0 && byte == 0);
        match byte {
            0 if depth == 0 && in_nuls => {}
            0 if depth == 0 => note_nuls(troubles, Place::Entry(self.entries + 1)),
            b'"' => self.string_from = at,
            b':' if self.watches_keys() => {
                self.path.truncate(depth as usize - 1);
                self.path.push(self.last_string.clone());
            }
            b'{' | b'[' => self.open(byte, depth, at),
            b'}' | b']' => self.close(depth, at, limits, troubles, batch),
            _ if depth == 0 && !byte.is_ascii_whitespace() && byte != b',' => troubles.note(
                Some(Place::Entry(self.entries + 1)),
                "text between JSON values",
                "give one JSON document, or one record a line",
                true,
            ),
            _ => {}
        }
    }

    /// Counts an element of the list that is a number, a text or null: no record, and yet not nothing.
    fn note_bare(&mut self, byte: u8, troubles: &mut Troubles) {
        let begins = !matches!(byte, b',' | b'{' | b'}' | b'[' | b']') && !byte.is_ascii_whitespace();
        if begins && !std::mem::replace(&mut self.bare, true) {
            self.entries += 1;
            troubles.note(
                Some(Place::Entry(self.entries)),
                "the entry is a bare value and no record",
                "export the list again; the other entries were read",
                true,
            );
        } else if byte == b',' {
            self.bare = false;
        }
    }

    fn open(&mut self, byte: u8, depth: u64, at: usize) {
        if depth == 0 {
            self.had_list = byte == b'[';
            self.bare = false;
            self.list = self.had_list.then_some(1);
            self.objects = 0;
            self.from = (!self.had_list).then_some(at);
        } else if self.list == Some(depth) {
            self.from = Some(at);
            self.dropping = false;
        } else if byte == b'[' && self.watches_list(depth) {
            let from = self.from.take().unwrap_or(at);
            self.preface.clear();
            self.preface.extend_from_slice(&self.held[from..(at + 1).min(from + MOST_PREFACE)]);
            (self.list, self.had_list, self.dropping, self.bare) = (Some(depth + 1), true, false, false);
        }
        if byte == b'{' && self.objects == depth {
            self.objects = depth + 1;
        }
    }

    fn watches_list(&self, depth: u64) -> bool {
        self.list.is_none()
            && self.objects == depth
            && depth <= KEY_DEPTH
            && LISTS.iter().any(|list| {
                list.len() as u64 == depth && self.path.iter().map(Vec::as_slice).eq(list.iter().copied())
            })
    }

    fn close(&mut self, depth: u64, at: usize, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch) {
        let inside = depth.saturating_sub(1);
        self.objects = self.objects.min(inside);
        if self.list == Some(depth) {
            self.list = None;
        } else if self.list == Some(inside) || (inside == 0 && !self.had_list) {
            self.emit(at, limits, troubles, batch);
        }
        if inside == 0 {
            self.from = None;
            self.dropping = false;
        }
    }

    fn emit(&mut self, at: usize, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch) {
        let Some(from) = self.from.take() else { return };
        if !self.dropping && at + 1 - from > limits.max_record {
            self.too_large(limits, troubles);
        }
        self.entries += 1;
        if std::mem::take(&mut self.dropping) {
            return;
        }
        let start = batch.raw.len();
        batch.raw.extend_from_slice(&self.held[from..=at]);
        batch.spans.push(Span {
            origin: Origin {
                seal: 0,
                file: self.file,
                offset: self.offset + from as u64,
                place: Place::Entry(self.entries),
            },
            at: start..batch.raw.len(),
            peeled: false,
            shipped: 0,
        });
    }

    fn too_large(&mut self, limits: &Limits, troubles: &mut Troubles) {
        self.dropping = true;
        super::note_long(troubles, Place::Entry(self.entries + 1), limits);
    }
}
