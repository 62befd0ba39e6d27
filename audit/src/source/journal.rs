//! Cuts the journal's export format (`journalctl -o export`) into a JSON object an entry, as `-o json` writes it.
//! Knows fields, their binary form and the blank line between entries; what a message holds is the wrappers' affair.

use super::Limits;
use super::bytes::ByteStream;
use super::record::{Batch, Span};
use super::trouble::Troubles;
use crate::event::{Origin, Place};
use memchr::memchr;

/// The fields that tell of an entry; the others say nothing of the message.
const KEPT: [&[u8]; 4] = [b"__CURSOR", b"__REALTIME_TIMESTAMP", b"_HOSTNAME", b"MESSAGE"];
/// Lines in which a first entry shows its time. An export may begin in the middle of one.
const SAMPLE: usize = 128;

/// Whether a file's first bytes are the journal's: nothing but fields, one of them an entry's time.
pub(super) fn is_export(head: &[u8]) -> bool {
    let mut lines = head.split(|b| *b == b'\n').take(SAMPLE);
    let first = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let named = first.split(|b| *b == b'=').next().is_some_and(is_name) && first.contains(&b'=');
    named
        && lines.any(|line| {
            let time = line.strip_prefix(b"__REALTIME_TIMESTAMP=");
            time.is_some_and(|time| time.len() > 12 && time.iter().all(u8::is_ascii_digit))
        })
}

fn is_name(name: &[u8]) -> bool {
    let mark = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    (1..=64).contains(&name.len()) && name.iter().all(mark)
}

/// Cuts entries.
pub(super) struct Journal {
    file: u32,
    held: Vec<u8>,
    /// Offset of `held` in the stream, and lines before it.
    offset: u64,
    line: u64,
    ended: bool,
}

/// One field of an entry, and how many bytes it takes.
enum Field<'a> {
    Whole(&'a [u8], &'a [u8], usize),
    /// The blank line after an entry.
    Blank,
    /// It goes on beyond what is held.
    More,
}

impl Journal {
    /// `offset`: that of `held` in the stream; what stands before it are NUL bytes.
    pub(super) fn new(file: u32, held: Vec<u8>, offset: u64) -> Self {
        Journal { file, held, offset, line: 0, ended: false }
    }

    /// The next entries; `None` at the end of the file.
    pub(super) fn next(
        &mut self,
        bytes: &mut ByteStream,
        limits: &Limits,
        troubles: &mut Troubles,
    ) -> Option<Batch> {
        let mut batch = Batch::default();
        loop {
            self.cut(limits, troubles, &mut batch);
            if self.ended || !batch.is_empty() {
                return (!batch.is_empty() || !self.ended).then_some(batch);
            }
            match bytes.fill(&mut self.held, limits.chunk) {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(e) => {
                    self.ended = true;
                    super::note_broken(troubles, Some(Place::Line(self.line + 1)), &e);
                }
            }
        }
    }

    /// Takes the whole entries off what is held; at the end of the file what there is of the last one.
    fn cut(&mut self, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch) {
        let held = std::mem::take(&mut self.held);
        let (mut from, mut at) = (0, 0);
        let mut fields: Vec<(&[u8], &[u8])> = Vec::new();
        loop {
            match field(&held[at..], self.ended, limits.max_record) {
                Field::Whole(name, value, length) => {
                    fields.push((name, value));
                    at += length;
                }
                Field::Blank => {
                    at += 1;
                    self.put(&fields, from as u64, limits, troubles, batch);
                    fields.clear();
                    self.line += lines(&held[from..at]);
                    from = at;
                }
                Field::More if self.ended => {
                    self.put(&fields, from as u64, limits, troubles, batch);
                    from = held.len();
                    break;
                }
                // An entry without an end would hold the rest of the file.
                Field::More if held.len() - from > 2 * limits.max_record => {
                    super::note_long(troubles, Place::Line(self.line + 1), limits);
                    self.line += lines(&held[from..]);
                    from = held.len();
                    break;
                }
                Field::More => break,
            }
        }
        self.offset += from as u64;
        self.held = held[from..].to_vec();
    }

    fn put(
        &self,
        fields: &[(&[u8], &[u8])],
        from: u64,
        limits: &Limits,
        troubles: &mut Troubles,
        batch: &mut Batch,
    ) {
        let place = Place::Line(self.line + 1);
        let value = |name: &[u8]| fields.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        let Some(message) = value(b"MESSAGE") else { return };
        if message.len() > limits.max_record {
            return super::note_long(troubles, place, limits);
        }
        let start = batch.raw.len();
        for (name, value) in KEPT.iter().filter_map(|name| Some((name, value(name)?))) {
            batch.raw.push(if batch.raw.len() == start { b'{' } else { b',' });
            batch.raw.extend_from_slice(format!("\"{}\":", String::from_utf8_lossy(name)).as_bytes());
            let text = serde_json::to_string(&String::from_utf8_lossy(value));
            batch.raw.extend_from_slice(text.expect("a string is always JSON").as_bytes());
        }
        batch.raw.push(b'}');
        batch.spans.push(Span {
            origin: Origin { seal: 0, file: self.file, offset: self.offset + from, place },
            at: start..batch.raw.len(),
            peeled: false,
            shipped: 0,
        });
    }
}

/// `NAME=value` and a line's end; or `NAME`, a line's end, the value's length in eight bytes, the lowest first, the value
/// and a line's end (systemd's "Journal Export Format").
fn field(bytes: &[u8], ended: bool, most: usize) -> Field<'_> {
    let Some(end) = memchr(b'\n', bytes).or((ended && !bytes.is_empty()).then_some(bytes.len())) else {
        return Field::More;
    };
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    let next = bytes.len().min(end + 1);
    if line.is_empty() {
        return Field::Blank;
    }
    if let Some(sign) = memchr(b'=', line) {
        return Field::Whole(&line[..sign], &line[sign + 1..], next);
    }
    let size = bytes.get(end + 1..end + 9).and_then(|eight| eight.try_into().ok()).map(u64::from_le_bytes);
    match size.and_then(|size| usize::try_from(size).ok()) {
        // A length that nobody would read is none: the line is broken, and the next one goes on.
        Some(size) if size > most.saturating_mul(2) || !is_name(line) => Field::Whole(line, b"", next),
        Some(size) => match bytes.get(end + 9..end + 9 + size) {
            Some(value) if bytes.len() > end + 9 + size || ended => {
                Field::Whole(line, value, bytes.len().min(end + 10 + size))
            }
            _ => Field::More,
        },
        None if ended => Field::Whole(line, b"", bytes.len()),
        None => Field::More,
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
