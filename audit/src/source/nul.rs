//! Runs of NUL bytes between records: blocks that a crash never wrote, the hole before what a program wrote on after its log was
//! truncated under it, a file that was made larger than its content.
//! Knows where they are; not what stood there.

use super::trouble::Troubles;
use crate::event::Place;
use memchr::{memchr, memrchr};
use std::ops::Range;

/// So many stand for a gap also in the middle of a line. Fewer are left there, as part of what a record says.
const RUN: usize = 8;

/// Tells of a run.
pub(super) fn note_nuls(troubles: &mut Troubles, place: Place) {
    troubles.note(
        Some(place),
        "NUL bytes stand among the records, as a crash leaves them, or a truncation of a log that is written on",
        "the rest was read; what a crash left unwritten is lost, and a log rotated by copytruncate has to be opened for appending",
        true,
    );
}

/// How many stand at the end.
pub(super) fn at_end(bytes: &[u8]) -> usize {
    bytes.iter().rev().take_while(|byte| **byte == 0).count()
}

/// How many stand at the start.
pub(super) fn at_start(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == 0).count()
}

/// The first run.
pub(super) fn first_run(bytes: &[u8]) -> Option<Range<usize>> {
    let mut from = 0;
    while let Some(at) = memchr(0, &bytes[from..]) {
        let start = from + at;
        let end = start + at_start(&bytes[start..]);
        if end - start >= RUN {
            return Some(start..end);
        }
        from = end;
    }
    None
}

/// Where the last run ends.
pub(super) fn last_run_end(bytes: &[u8]) -> Option<usize> {
    let mut to = bytes.len();
    while let Some(at) = memrchr(0, &bytes[..to]) {
        let start = at + 1 - at_end(&bytes[..=at]);
        if at + 1 - start >= RUN {
            return Some(at + 1);
        }
        to = start;
    }
    None
}

/// What of a line stands before, between and behind its runs, and where these begin. At the line's ends every NUL byte is one:
/// none is a part of what is written there.
pub(super) fn pieces(line: &[u8]) -> (Vec<Range<usize>>, Vec<usize>) {
    // A line's end may be written as CR LF.
    let text = line.strip_suffix(b"\r").unwrap_or(line);
    let mut from = at_start(text);
    let end = text.len() - at_end(&text[from..]);
    let (mut pieces, mut runs) = (Vec::new(), Vec::from_iter((from > 0).then_some(0)));
    while from < end {
        match first_run(&text[from..end]) {
            Some(run) => {
                pieces.push(from..from + run.start);
                runs.push(from + run.start);
                from += run.end;
            }
            None => {
                pieces.push(from..end);
                break;
            }
        }
    }
    if end < text.len() {
        runs.push(end);
    }
    (pieces, runs)
}

/// How much of `head` is text, and how much of that NUL bytes that stand alone: many of them are what makes a file binary.
pub(super) fn strays(head: &[u8]) -> (usize, usize) {
    let (mut text, mut strays, mut from) = (0, 0, 0);
    loop {
        let run =
            first_run(&head[from..]).map_or(head.len()..head.len(), |run| from + run.start..from + run.end);
        text += run.start - from;
        strays += memchr::memchr_iter(0, &head[from..run.start]).count();
        if run.end >= head.len() {
            return (text, strays);
        }
        from = run.end;
    }
}
