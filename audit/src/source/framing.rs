//! How a file is divided: one record a line, JSON documents that hold lists of records, a table with a head row,
//! or entries of the journal.
//! Knows only the file's head; refuses what is no text.

use super::journal;
use super::nul;
use super::rows::{self, Head};
use super::scan::balanced;

/// How a file is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One record a line.
    Lines,
    /// JSON values, one after the other, each a record or a document with a list of records.
    Values,
    /// A table of text: a row is a record, its cells under the names of the head.
    Rows,
    /// The journal's export format: an entry is a record.
    Journal,
}

/// A framing with what it was told by.
#[derive(Debug)]
pub(super) enum Told {
    Lines,
    Values,
    Rows(Head),
    Journal,
}

/// Tells the framing from a file's head; `whole`: the head is all there is. `None`: this is no text.
pub(super) fn tell(head: &[u8], whole: bool) -> Option<Told> {
    // A log may hold a stray NUL, and runs of them between its records; a binary file holds many.
    let (text, strays) = nul::strays(head);
    if strays * 16 > text {
        return None;
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    Some(match text.first() {
        Some(b'[') if opens_list(&text[1..]) => tell_list(text),
        Some(b'{') => tell_object(text, whole),
        _ if journal::is_export(text) => Told::Journal,
        _ => rows::head(head, whole).map_or(Told::Lines, Told::Rows),
    })
}

/// `[` followed by what can only be a list of records: a text line may well begin with `[2026-…`.
fn opens_list(rest: &[u8]) -> bool {
    matches!(rest.trim_ascii_start().first(), Some(b'{' | b'[' | b']'))
}

/// A list of records; lists one a line are records themselves.
fn tell_list(head: &[u8]) -> Told {
    let (line, rest) = match memchr::memchr(b'\n', head) {
        Some(end) => (head[..end].trim_ascii_end(), head[end..].trim_ascii_start()),
        None => return Told::Values,
    };
    match balanced(line) {
        Some(end) if end == line.len() && rest.starts_with(b"[") => Told::Lines,
        _ => Told::Values,
    }
}

fn tell_object(head: &[u8], whole: bool) -> Told {
    let line = memchr::memchr(b'\n', head).map_or(head, |end| &head[..end]);
    match balanced(line) {
        Some(end) if !line[end..].trim_ascii().is_empty() => Told::Values, // concatenated, as Firehose does
        Some(_) if whole && head[line.len()..].trim_ascii().is_empty() => Told::Values,
        Some(_) => Told::Lines,
        None if mostly_lines(&head[line.len()..]) => Told::Lines,
        None => Told::Values,
    }
}

/// Whether the lines after a first one that is broken are records of their own: then the log merely starts in the middle.
fn mostly_lines(rest: &[u8]) -> bool {
    let mut lines = rest.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty()).peekable();
    let (mut own, mut other) = (0, 0);
    while let Some(line) = lines.next() {
        // The last piece may be cut off by the head's end.
        if lines.peek().is_none() && own + other > 0 {
            break;
        }
        match balanced(line) {
            Some(end) if end == line.len() && line[0] == b'{' => own += 1,
            _ => other += 1,
        }
        if own + other == 16 {
            break;
        }
    }
    own > other
}
