//! Cuts a stream into lines across chunk borders, with a bound on each.
//! Knows no JSON; an empty line is no record.
//!
//! A run of NUL bytes ends a record too: what a crash or a truncated file leaves between two records is no part of either.

use super::Limits;
use super::bytes::ByteStream;
use super::nul::{self, note_nuls};
use super::record::{Batch, Span};
use super::trouble::Troubles;
use crate::event::{Origin, Place};
use memchr::{memchr, memchr_iter, memrchr};
use std::ops::Range;

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
    /// What stands before `held` is a run of NUL bytes that was told.
    after_nuls: bool,
    /// No record was handed out yet.
    first: bool,
    ended: bool,
}

impl Lines {
    /// `offset`: that of `head` in the stream; what stands before it are NUL bytes.
    pub(super) fn new(file: u32, head: Vec<u8>, offset: u64) -> Self {
        Lines {
            file,
            held: head,
            offset,
            line: 0,
            skipping: false,
            after_nuls: offset > 0,
            first: true,
            ended: false,
        }
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
            let end = memrchr(b'\n', &self.held).map(|at| at + 1).or_else(|| nul::last_run_end(&self.held));
            if let Some(end) = end {
                return Some(self.hand_out(end, limits, troubles));
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
        let run = nul::first_run(&self.held[..end.unwrap_or(self.held.len())]).map(|run| run.start);
        let dropped = match (run, end) {
            (Some(start), _) => start,
            (None, Some(end)) => end + 1,
            (None, None) if self.ended => self.held.len(),
            // A run may go on in what comes.
            (None, None) => self.held.len() - nul::at_end(&self.held),
        };
        self.held.drain(..dropped);
        self.offset += dropped as u64;
        let done = run.is_some() || end.is_some();
        if done || self.ended {
            self.line += u64::from(run.is_none());
            self.skipping = false;
        }
        done
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
        let torn = memchr(0, &raw).is_some();
        let mut start = 0;
        for end in memchr_iter(b'\n', &raw) {
            self.line += 1;
            self.cut_at(&raw, start..end, torn, limits, troubles, &mut batch);
            self.after_nuls = false;
            start = end + 1;
        }
        if start < raw.len() {
            // The last line of the file, or one of which a run of NUL bytes was seen: it goes on behind that.
            self.line += 1;
            self.cut_at(&raw, start..raw.len(), torn, limits, troubles, &mut batch);
            self.after_nuls = raw.ends_with(&[0]);
            self.line -= 1;
        }
        self.offset += raw.len() as u64;
        batch.raw = raw;
        batch
    }

    /// Cuts one line, into what stands between NUL bytes if it is `torn` by them.
    fn cut_at(
        &mut self,
        raw: &[u8],
        line: Range<usize>,
        torn: bool,
        limits: &Limits,
        troubles: &mut Troubles,
        batch: &mut Batch,
    ) {
        if !torn {
            return self.cut(raw, line.start, line.end, limits, troubles, batch);
        }
        let mut told = self.after_nuls;
        let (pieces, runs) = nul::pieces(&raw[line.clone()]);
        for at in runs {
            if at > 0 || !told {
                note_nuls(troubles, Place::Line(self.line));
            }
            told = false;
        }
        for piece in pieces {
            self.cut(raw, line.start + piece.start, line.start + piece.end, limits, troubles, batch);
        }
    }

    fn cut(
        &mut self,
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
        if std::mem::take(&mut self.first) && line.starts_with(b"\xef\xbb\xbf") {
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
