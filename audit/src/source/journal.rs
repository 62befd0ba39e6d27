//! Cuts the journal's export format (`journalctl -o export`) into a JSON object an entry, as `-o json` writes it.
//! Knows fields, their binary form and the blank line between entries; what a message holds is the wrappers' affair.

use super::Limits;
use super::record::Batch;
use super::stock::{Cut, Stock, lines};
use super::trouble::Troubles;
use memchr::memchr;

/// The fields that tell of an entry, as JSON; the others say nothing of the message.
const KEPT: [&str; 4] = [r#""__CURSOR""#, r#""__REALTIME_TIMESTAMP""#, r#""_HOSTNAME""#, MESSAGE];
const MESSAGE: &str = r#""MESSAGE""#;
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
pub(super) struct Journal(Stock);

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
        Journal(Stock::new(file, held, offset, 0))
    }

    fn put(
        &self,
        fields: &[(&[u8], &[u8])],
        from: u64,
        limits: &Limits,
        troubles: &mut Troubles,
        batch: &mut Batch,
    ) {
        let value = |name: &str| {
            let of = |field: &&(&[u8], &[u8])| field.0 == name.trim_matches('"').as_bytes();
            fields.iter().find(of).map(|(_, value)| *value)
        };
        let Some(message) = value(MESSAGE) else { return };
        if message.len() > limits.max_record {
            return super::note_long(troubles, self.0.place(), limits);
        }
        self.0.put(from, KEPT.iter().filter_map(|name| Some((*name, value(name)?))), batch);
    }
}

impl Cut for Journal {
    fn stock(&mut self) -> &mut Stock {
        &mut self.0
    }

    /// Takes the whole entries off what is held; at the end of the file what there is of the last one.
    fn cut(&mut self, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch) {
        let held = std::mem::take(&mut self.0.held);
        let (mut from, mut at) = (0, 0);
        let mut fields: Vec<(&[u8], &[u8])> = Vec::new();
        loop {
            match field(&held[at..], self.0.ended, limits.max_record) {
                Field::Whole(name, value, length) => {
                    fields.push((name, value));
                    at += length;
                }
                Field::Blank => {
                    at += 1;
                    self.put(&fields, from as u64, limits, troubles, batch);
                    fields.clear();
                    self.0.line += lines(&held[from..at]);
                    from = at;
                }
                Field::More if self.0.ended => {
                    self.put(&fields, from as u64, limits, troubles, batch);
                    from = held.len();
                    break;
                }
                // An entry without an end would hold the rest of the file.
                Field::More if held.len() - from > 2 * limits.max_record => {
                    super::note_long(troubles, self.0.place(), limits);
                    self.0.line += lines(&held[from..]);
                    from = held.len();
                    break;
                }
                Field::More => break,
            }
        }
        self.0.offset += from as u64;
        self.0.held = held[from..].to_vec();
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
