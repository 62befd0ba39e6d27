//! Lines of `key=value` pairs, as Go's slog and logrus print them.
//! Knows the line's grammar, and gives it on as an object of texts.

use super::otlp::Flat;
use super::{Inner, Peeled};
use crate::source::record::Shipped;

/// What such a line begins with.
const FIRST: [&str; 4] = ["time=", "ts=", "t=", "level="];
/// Pairs that a line must have, so that a sentence with an `=` is none.
const LEAST: usize = 3;

pub(super) fn peel(text: &[u8]) -> Option<Peeled> {
    if !FIRST.iter().any(|first| text.starts_with(first.as_bytes())) {
        return None;
    }
    let mut rest = std::str::from_utf8(text).ok()?.trim();
    let mut flat = Flat::default();
    let mut count = 0;
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        if key.is_empty() || key.contains([' ', '"', '{']) {
            return None;
        }
        let (value, after) = value(after)?;
        flat.text(key, Some(&value));
        count += 1;
        rest = after.trim_start();
    }
    (count >= LEAST).then(|| Peeled::Inner("logfmt", vec![Inner::new(flat.finish(), Shipped::default())]))
}

/// A value, quoted as Go quotes, or up to the next blank; and what follows.
fn value(text: &str) -> Option<(String, &str)> {
    if !text.starts_with('"') {
        let end = text.find(' ').unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    }
    let mut escaped = false;
    let end = text[1..].bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    })?;
    let (quoted, rest) = text.split_at(end + 2);
    Some((unquoted(quoted), rest))
}

/// Go's escapes are JSON's but for bytes and a few letters.
fn unquoted(quoted: &str) -> String {
    let json = quoted.replace("\\x", "\\u00").replace("\\a", "\\u0007").replace("\\v", "\\u000b");
    serde_json::from_str(&json).unwrap_or_else(|_| quoted.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn record(text: &str) -> Option<String> {
        match peel(text.as_bytes())? {
            Peeled::Inner(_, inner) => Some(String::from_utf8(inner[0].text.clone()).unwrap()),
            _ => None,
        }
    }

    #[test]
    fn pairs_become_an_object() {
        let line = r#"time=2026-08-14T09:00:00Z level=DEBUG msg="a \"b\" c" id={value:2} params="{\"x\":\"y\"}" none="""#;
        let told = r#"{"time":"2026-08-14T09:00:00Z","level":"DEBUG","msg":"a \"b\" c","id":"{value:2}","params":"{\"x\":\"y\"}","none":""}"#;
        assert_eq!(record(line).as_deref(), Some(told));
        assert_eq!(record("time=now and a sentence = more"), None);
        assert_eq!(record("level=a b=c"), None, "two pairs are too few");
    }
}
