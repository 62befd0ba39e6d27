//! Cuts a stream into lines across chunk borders, with a bound on each.
//! Knows no JSON; an empty line is no record.

use super::Limits;
use super::bytes::ByteStream;
use super::record::{Batch, Span};
use super::trouble::Troubles;
use crate::event::{Origin, Place};
use memchr::{memchr, memchr_iter, memrchr};

/// Cuts lines.
pub(super) struct Lines {
    file: u32,
    /// Bytes read and not yet handed out: the start of an unfinished line.
    held: Vec<u8>,
    /// Offset of `held` in the stream.
    offset: u64,
    /// Lines before `held`.
    line: u64,
    /// Inside a line that is too long: its bytes so far are dropped.
    skipping: bool,
    ended: bool,
}

impl Lines {
    pub(super) fn new(file: u32, head: Vec<u8>) -> Self {
        Lines { file, held: head, offset: 0, line: 0, skipping: false, ended: false }
    }

    /// The next lines; `None` at the end of the file.
    pub(super) fn next(
        &mut self,
        bytes: &mut ByteStream,
        limits: &Limits,
        troubles: &mut Troubles,
    ) -> Option<Batch> {
        loop {
            if self.skipping && !self.drop_long_line() && !self.ended {
                self.read(bytes, limits, troubles);
                continue;
            }
            if let Some(end) = memrchr(b'\n', &self.held) {
                return Some(self.hand_out(end + 1, limits, troubles));
            }
            if self.ended {
                let rest = self.held.len();
                return (rest > 0).then(|| self.hand_out(rest, limits, troubles));
            }
            if self.held.len() > limits.max_record {
                note_long(troubles, self.line + 1, limits);
                self.skipping = true;
                continue;
            }
            self.read(bytes, limits, troubles);
        }
    }

    /// Drops what is held of a long line; true once its end was seen.
    fn drop_long_line(&mut self) -> bool {
        let end = memchr(b'\n', &self.held);
        let dropped = end.map_or(self.held.len(), |at| at + 1);
        self.held.drain(..dropped);
        self.offset += dropped as u64;
        if end.is_some() || self.ended {
            self.line += 1;
            self.skipping = false;
        }
        end.is_some()
    }

    fn read(&mut self, bytes: &mut ByteStream, limits: &Limits, troubles: &mut Troubles) {
        match bytes.fill(&mut self.held, limits.chunk) {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(e) => {
                self.ended = true;
                super::note_broken(troubles, Some(Place::Line(self.line + 1)), &e);
            }
        }
    }

    fn hand_out(&mut self, end: usize, limits: &Limits, troubles: &mut Troubles) -> Batch {
        let rest = self.held.split_off(end);
        let raw = std::mem::replace(&mut self.held, rest);
        let mut batch = Batch {
            spans: Vec::with_capacity(raw.len() / 512 + 1),
            base: Some(self.offset),
            ..Batch::default()
        };
        let mut start = 0;
        for end in memchr_iter(b'\n', &raw).chain((raw.last() != Some(&b'\n')).then_some(raw.len())) {
            self.line += 1;
            self.cut(&raw, start, end, limits, troubles, &mut batch);
            start = end + 1;
        }
        self.offset += raw.len() as u64;
        batch.raw = raw;
        batch
    }

    fn cut(
        &self,
        raw: &[u8],
        start: usize,
        end: usize,
        limits: &Limits,
        troubles: &mut Troubles,
        batch: &mut Batch,
    ) {
        let offset = self.offset + start as u64;
        if end - start > limits.max_record {
            return note_long(troubles, self.line, limits);
        }
        let mut line = &raw[start..end];
        let mut from = start;
        if offset == 0 && line.starts_with(b"\xef\xbb\xbf") {
            line = &line[3..];
            from += 3;
        }
        // Blanks before a JSON object say nothing; before other text they may.
        let trimmed = line.trim_ascii_start();
        if trimmed.first() == Some(&b'{') {
            from += line.len() - trimmed.len();
            line = trimmed;
        }
        if line.last() == Some(&b'\r') {
            line = &line[..line.len() - 1];
        }
        if line.trim_ascii().is_empty() {
            return;
        }
        batch.spans.push(Span {
            origin: Origin { seal: 0, file: self.file, offset, place: Place::Line(self.line) },
            at: from..from + line.len(),
            peeled: false,
            shipped: 0,
        });
    }
}

fn note_long(troubles: &mut Troubles, line: u64, limits: &Limits) {
    super::note_long(troubles, Place::Line(line), limits);
}
