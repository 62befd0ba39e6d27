//! Wrappers that are text before the record: the Kubernetes container log, a time, a syslog head.
//! Knows where the record begins; refuses a head that is not one of these.

use super::{Inner, Peeled, Piece, logfmt, logger, queue, tracing};
use crate::mapping::clock;
use crate::source::record::Shipped;
use memchr::memchr;

pub(super) fn peel(text: &[u8]) -> Peeled {
    if let Some(piece) = cri(text) {
        return Peeled::Piece(piece);
    }
    if let Some(line) = tracing::peel(text).or_else(|| logger::peel(text)).or_else(|| logfmt::peel(text)) {
        return line;
    }
    if let Some(payload) = queue::peel_line(text) {
        return payload;
    }
    // journald's other JSON outputs mark where a record begins (`-o json-seq`, `-o json-sse`).
    if let Some(rest) = text.strip_prefix(b"\x1e").or_else(|| text.strip_prefix(b"data: "))
        && rest.first() == Some(&b'{')
    {
        return Peeled::Inner("json sequence", vec![Inner::new(rest, Shipped::default())]);
    }
    if let Some(line) = line_after(text) {
        return line;
    }
    // What comes after must be a whole JSON object, or a message with braces in it would be taken for a record.
    let Some(start) = memchr(b'{', text) else { return Peeled::Bare };
    let start = after_labels(text, start).unwrap_or(start);
    if text.last() != Some(&b'}') || start > 256 || !text[start + 1..].trim_ascii_start().starts_with(b"\"") {
        return Peeled::Bare;
    }
    let head = &text[..start];
    if let Some(at) = time_first(head) {
        return inner("time prefix", text, start, Some(at));
    }
    if is_syslog(head) {
        return inner("syslog", text, start, None);
    }
    source_first(head).map_or(Peeled::Bare, |at| inner("source prefix", text, start, at))
}

fn inner(layer: &'static str, text: &[u8], start: usize, at: Option<i64>) -> Peeled {
    Peeled::Inner(layer, vec![Inner::new(&text[start..], Shipped { at, ..Shipped::default() })])
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

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
    let at = clock::rfc3339(std::str::from_utf8(time).ok()?)?.0;
    Some(Piece {
        layer: "cri",
        stream: stream.to_vec(),
        text: parts.next().unwrap_or_default().to_vec(),
        last,
        part: None,
        shipped: Shipped { at: Some(at), ..Shipped::default() },
    })
}

/// A head that begins with a time: alone, as CloudWatch's export to S3 writes it, or with a name or two after it: the
/// stream (`aws logs tail`), the tag (Fluentd's files), the labels (`logcli`).
fn time_first(head: &[u8]) -> Option<i64> {
    let mut words = std::str::from_utf8(head).ok()?.split_whitespace();
    let at = clock::rfc3339(words.next()?).map(|(at, _)| at)?;
    let named = |word: &str| {
        word.starts_with('{') || word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./[]$:#".contains(&b))
    };
    let labels = memchr(b'{', head).is_some();
    ((labels || words.clone().count() <= 2) && words.all(|word| labels || named(word))).then_some(at)
}

/// Where the record begins behind a set of labels, `{app="x", pod="y"} {"a":1}`.
fn after_labels(text: &[u8], start: usize) -> Option<usize> {
    text.get(start + 1).filter(|first| first.is_ascii_alphabetic())?;
    let end = memchr::memmem::find(&text[start..], b"} {")?;
    Some(start + end + 2)
}

/// A line of text behind a head: a time, a syslog head, or the name of what wrote it.
fn line_after(text: &[u8]) -> Option<Peeled> {
    let within = &text[..text.len().min(256)];
    let rest = |at: usize| text.get(at..).map(<[u8]>::trim_ascii_start).filter(|rest| is_line(rest));
    let peeled = |layer, line: &[u8], at| {
        let shipped = Shipped { at, ..Shipped::default() };
        Peeled::Inner(layer, vec![Inner::new(line, shipped)])
    };
    let space = memchr(b' ', within)?;
    let time = std::str::from_utf8(&text[..space]).ok().and_then(clock::rfc3339);
    if let (Some((at, _)), Some(line)) = (time, rest(space)) {
        return Some(peeled("time prefix", line, Some(at)));
    }
    for mark in [&b": "[..], b"| ", b"] "] {
        let Some(at) = memchr::memmem::find(within, mark) else { continue };
        let (head, Some(line)) = (&text[..=at], rest(at + mark.len())) else { continue };
        if mark == b": " && is_syslog(head) {
            return Some(peeled("syslog", line, None));
        }
        if mark != b": "
            && let Some(at) = source_first(head)
        {
            return Some(peeled("source prefix", line, at));
        }
    }
    None
}

/// Whether a text is a line that another program wrote, by its beginning: an address with the time of an access log behind
/// it, a time, or a kind of request and a time (a balancer's).
pub(super) fn is_line(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(&text[..text.len().min(256)]) else { return false };
    let mut words = text.split_ascii_whitespace();
    let (Some(first), Some(second), Some(_)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let host = first.rsplit_once(':').map_or(first, |(host, _)| host).trim_matches(['[', ']']);
    let time = |word: &str| clock::rfc3339(word.trim_matches(['[', ']'])).is_some();
    let balancer = matches!(first, "http" | "https" | "h2" | "grpcs" | "ws" | "wss") && time(second);
    let address = first.parse::<std::net::IpAddr>().is_ok() || host.parse::<std::net::IpAddr>().is_ok();
    // An access log's own time, `[14/Aug/2026:09:00:05`: a line that begins with an address and has none may go on from what
    // stood before it.
    let dated = || {
        text.match_indices('[').any(|(at, _)| {
            let month = text.get(at + 4..at + 7).is_some_and(|month| MONTHS.contains(&month));
            month && text.as_bytes().get(at + 3) == Some(&b'/')
        })
    };
    address && dated() || time(first) || balancer || is_date(first) || is_syslog_time(text)
}

/// `2026-08-14`, before a time of its own.
fn is_date(word: &str) -> bool {
    let mark = |(at, b): (usize, u8)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() };
    word.len() == 10 && word.bytes().enumerate().all(mark)
}

/// `Aug 14 09:00:00 `, or `<134>` before it.
fn is_syslog_time(text: &str) -> bool {
    let rest = text.strip_prefix('<').and_then(|text| text.split_once('>')).map_or(text, |(_, rest)| rest);
    let clock = |word: &str| word.len() == 8 && word.as_bytes()[2] == b':' && word.as_bytes()[5] == b':';
    let mut words = rest.split_ascii_whitespace();
    words.next().is_some_and(|word| MONTHS.contains(&word) || word == "1")
        && words.next().is_some_and(|word| word.parse::<u8>().is_ok() || clock::rfc3339(word).is_some())
        && (words.next().is_some_and(clock) || rest.starts_with("1 "))
}

/// A head that begins with the name of what wrote the line, set off by a bar or brackets: `nginx-1  | ` (Compose), with a
/// time after it or none, `[pod/nginx-5d/nginx] ` (kubectl). Gives that time.
fn source_first(head: &[u8]) -> Option<Option<i64>> {
    let head = head.trim_ascii();
    let named = |name: &[u8]| {
        let letter = |b: &u8| b.is_ascii_alphanumeric() || b"-_./@|".contains(b);
        !name.is_empty() && name.iter().all(letter)
    };
    if let Some(bar) = memchr::memrchr(b'|', head) {
        let at = time_first(&head[bar + 1..]);
        let alone = at.is_some() || bar + 1 == head.len();
        return (alone && named(head[..bar].trim_ascii_end())).then_some(at);
    }
    let name = head.strip_prefix(b"[")?.strip_suffix(b"]")?;
    (name.contains(&b'/') && named(name)).then_some(None)
}

/// `Aug 14 09:00:00 host haproxy[7]: ` or RFC 5424's `<134>1 2026-… host app - - - `, with a tag that ends the head.
fn is_syslog(head: &[u8]) -> bool {
    let Ok(head) = std::str::from_utf8(head) else { return false };
    let head = head.trim_end();
    let rest = match head.strip_prefix('<').and_then(|h| h.split_once('>')) {
        Some((priority, rest)) if priority.len() <= 3 && priority.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => head,
    };
    let old = rest.get(..3).is_some_and(|m| MONTHS.contains(&m))
        && rest.ends_with(':')
        && rest.split_whitespace().count() >= 4;
    let iso =
        rest.split_whitespace().next().is_some_and(|t| clock::rfc3339(t).is_some()) && rest.ends_with(':');
    let new = rest.starts_with("1 ") && rest.split_whitespace().count() >= 6;
    old || iso || new
}
