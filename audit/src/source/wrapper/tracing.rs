//! Lines of tracing-subscriber's text formatter, which most Rust servers print: time, level, spans, target, message, fields.
//! Knows the line's grammar, and gives it on as the record that the JSON formatter would have written of it.

use super::{Inner, Peeled};
use crate::source::record::Shipped;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::LazyLock;

/// `2026-08-14T09:00:00.002Z  INFO a_span{id=1}:b_span: some::target: message key=value`.
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?s)^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)\s+(TRACE|DEBUG|INFO|WARN|ERROR)\s+((?:\w+(?:\{[^{}]*\})?:)*?) ?(\w+(?:::\w+)+): (.*)$",
    )
    .ok()
});

pub(super) fn peel(text: &[u8]) -> Option<Peeled> {
    if !matches!(text.first()?, b'0'..=b'9' | 0x1b) {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let text = plain(text);
    let found = LINE.as_ref()?.captures(&text)?;
    let group = |number| found.get(number).map_or("", |part| part.as_str());
    let (message, fields) = divided(group(5));
    let mut told = Map::new();
    told.insert("message".to_owned(), json!(message));
    for (key, value) in fields {
        told.insert(key.to_owned(), json!(value));
    }
    let spans: Vec<Value> = group(3).split_inclusive(':').filter_map(span).collect();
    let mut record = json!({
        "timestamp": group(1), "level": group(2), "target": group(4), "fields": told,
    });
    if let (Some(last), Some(record)) = (spans.last().cloned(), record.as_object_mut()) {
        record.insert("span".to_owned(), last);
        record.insert("spans".to_owned(), Value::Array(spans));
    }
    Some(Peeled::Inner("tracing text", vec![Inner::new(record.to_string(), Shipped::default())]))
}

/// The text without the escapes that colour it.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = rest.strip_prefix('m').unwrap_or(rest);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// `name{key=value}:` as an object.
fn span(text: &str) -> Option<Value> {
    let text = text.trim().strip_suffix(':')?;
    let (name, fields) = text.split_once('{').unwrap_or((text, ""));
    let mut told = Map::new();
    told.insert("name".to_owned(), json!(name));
    let fields = format!(" {}", fields.trim_end_matches('}'));
    for (key, value) in divided(&fields).1 {
        // A text field is quoted here, and not in JSON.
        let value = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned());
        told.insert(key.to_owned(), json!(value));
    }
    Some(Value::Object(told))
}

/// A message and the fields behind it: each begins with a blank, a name and `=`, outside of quotes and brackets.
fn divided(text: &str) -> (&str, Vec<(&str, &str)>) {
    let bytes = text.as_bytes();
    let mut starts = Vec::new();
    let (mut depth, mut quoted, mut at) = (0usize, false, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' if !starts.is_empty() => quoted = !quoted,
            b'(' | b'[' | b'{' if !quoted && !starts.is_empty() => depth += 1,
            b')' | b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            b' ' if !quoted && depth == 0 => {
                let name = bytes[at + 1..]
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || **b == b'.')
                    .count();
                if name > 0 && bytes.get(at + 1 + name) == Some(&b'=') {
                    starts.push((at, at + 1 + name));
                    at += name;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let message = &text[..starts.first().map_or(text.len(), |(start, _)| *start)];
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let fields = starts
        .iter()
        .zip(ends)
        .map(|((start, equals), end)| (&text[start + 1..*equals], &text[equals + 1..end]));
    (message, fields.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_where_the_next_begins() {
        let text =
            r#"received request id=2 request=Call(Request { name: "a b=1", list: [1, 2] }) last="x \" y=2""#;
        assert_eq!(
            divided(text),
            (
                "received request",
                vec![
                    ("id", "2"),
                    ("request", r#"Call(Request { name: "a b=1", list: [1, 2] })"#),
                    ("last", r#""x \" y=2""#)
                ]
            )
        );
        assert_eq!(divided("it's (over"), ("it's (over", Vec::new()));
    }

    #[test]
    fn colours_are_no_text() {
        assert_eq!(plain("\u{1b}[2m2026\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m"), "2026  INFO");
    }
}
