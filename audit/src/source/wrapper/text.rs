//! Wrappers that are text before the record: the Kubernetes container log, a time, a syslog head.
//! Knows where the record begins; refuses a head that is not one of these.

use super::{Inner, Peeled, Piece, logger};
use crate::source::record::Shipped;
use memchr::memchr;

pub(super) fn peel(text: &[u8]) -> Peeled {
    if let Some(piece) = cri(text) {
        return Peeled::Piece(piece);
    }
    if let Some(line) = logger::peel(text) {
        return line;
    }
    // What comes after must be a whole JSON object, or a message with braces in it would be taken for a record.
    let Some(start) = memchr(b'{', text) else { return Peeled::Bare };
    if text.last() != Some(&b'}') || start > 256 || !text[start + 1..].trim_ascii_start().starts_with(b"\"") {
        return Peeled::Bare;
    }
    let head = &text[..start];
    if let Some(at) = sole_time(head) {
        return inner("time prefix", text, start, Some(at));
    }
    if is_syslog(head) { inner("syslog", text, start, None) } else { Peeled::Bare }
}

fn inner(layer: &'static str, text: &[u8], start: usize, at: Option<i64>) -> Peeled {
    Peeled::Inner(layer, vec![Inner::new(&text[start..], Shipped { at, ..Shipped::default() })])
}

/// Whether a text is a line as a container runtime writes it.
pub(super) fn is_cri(text: &[u8]) -> bool {
    cri(text).is_some()
}

/// `<RFC 3339> stdout|stderr P|F <text>` (Kubernetes CRI logging format).
fn cri(text: &[u8]) -> Option<Piece> {
    if text.len() < 30 || !text[0].is_ascii_digit() {
        return None;
    }
    let mut parts = text.splitn(4, |b| *b == b' ');
    let (time, stream, tag) = (parts.next()?, parts.next()?, parts.next()?);
    if !matches!(stream, b"stdout" | b"stderr") || !time.contains(&b'T') {
        return None;
    }
    // Tags may be joined by colons; the first says whether the line goes on.
    let last = match tag.split(|b| *b == b':').next()? {
        b"F" => true,
        b"P" => false,
        _ => return None,
    };
    let at = crate::mapping::clock::rfc3339(std::str::from_utf8(time).ok()?)?.0;
    Some(Piece {
        layer: "cri",
        stream: stream.to_vec(),
        text: parts.next().unwrap_or_default().to_vec(),
        last,
        part: None,
        shipped: Shipped { at: Some(at), ..Shipped::default() },
    })
}

/// A head that is one time and a blank, as CloudWatch's export to S3 writes it.
fn sole_time(head: &[u8]) -> Option<i64> {
    let head = std::str::from_utf8(head).ok()?.trim_end();
    (!head.contains(' ')).then(|| crate::mapping::clock::rfc3339(head)).flatten().map(|(at, _)| at)
}

/// `Aug 14 09:00:00 host haproxy[7]: ` or RFC 5424's `<134>1 2026-… host app - - - `, with a tag that ends the head.
fn is_syslog(head: &[u8]) -> bool {
    let Ok(head) = std::str::from_utf8(head) else { return false };
    let head = head.trim_end();
    let rest = match head.strip_prefix('<').and_then(|h| h.split_once('>')) {
        Some((priority, rest)) if priority.len() <= 3 && priority.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => head,
    };
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let old = rest.get(..3).is_some_and(|m| MONTHS.contains(&m))
        && rest.ends_with(':')
        && rest.split_whitespace().count() >= 4;
    let iso = rest.split_whitespace().next().is_some_and(|t| crate::mapping::clock::rfc3339(t).is_some())
        && rest.ends_with(':');
    let new = rest.starts_with("1 ") && rest.split_whitespace().count() >= 6;
    old || iso || new
}
