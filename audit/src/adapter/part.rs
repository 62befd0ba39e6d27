//! Records inside records of no known format: log pipelines keep the parsed line under a name, or as text, or write its
//! keys in their own case.
//! Knows no shell by name; what stands inside must be of a known format, and the only one that is.

use super::detect::Verdict;
use super::formats::Formats;
use crate::mapping::json::{self, Raw};
use std::borrow::Cow;

/// Objects within objects that are looked into.
const DEEPEST: usize = 3;

/// The format of a record's part or of the record with its keys in snake case, and its bytes.
pub(super) fn known<'r>(formats: &Formats, record: &'r [u8]) -> Option<(usize, Cow<'r, [u8]>)> {
    let text = std::str::from_utf8(record).ok().filter(|text| text.starts_with('{'))?;
    let inner = memchr::memchr(b'{', &record[1..]).and_then(|_| only(formats, text, DEEPEST));
    inner.or_else(|| folded(formats, text).map(|(format, text)| (format, Cow::Owned(text.into_bytes()))))
}

fn read(formats: &Formats, record: &[u8]) -> Option<usize> {
    match formats.tell(record) {
        Verdict::One(format) if formats.get(format).skip.is_none() => Some(format),
        _ => None,
    }
}

/// The one part that is a record; two would be two statements of whatever the record tells.
fn only<'r>(formats: &Formats, record: &'r str, deeper: usize) -> Option<(usize, Cow<'r, [u8]>)> {
    let mut found = None;
    let mut more = false;
    json::members(record, |_, value| {
        let Some(part) = object_in(value) else { return };
        let told = match read(formats, part.as_bytes()) {
            Some(format) => Some((format, bytes(part))),
            None if deeper > 0 => match part {
                Cow::Borrowed(part) => only(formats, part, deeper - 1),
                Cow::Owned(part) => only(formats, &part, deeper - 1)
                    .map(|(format, part)| (format, Cow::Owned(part.into_owned()))),
            },
            None => None,
        };
        more |= told.is_some() && found.is_some();
        found = found.take().or(told);
    })
    .ok()?;
    found.filter(|_| !more)
}

/// The object that a value is, or that it holds as text.
fn object_in<'r>(value: Raw<'r>) -> Option<Cow<'r, str>> {
    match value.get().as_bytes() {
        [b'{', ..] => Some(Cow::Borrowed(value.get())),
        [b'"', b'{', ..] => value.string().map(|text| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii_end()),
            Cow::Owned(text) => Cow::Owned(text.trim_ascii_end().to_owned()),
        }),
        _ => None,
    }
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// The record with its own keys in snake case, if a format is known by them: names are the operator's, and so is their case.
fn folded(formats: &Formats, record: &str) -> Option<(usize, String)> {
    let mut out = String::from("{");
    let mut changed = false;
    json::members(record, |key, value| {
        let own = snake(key);
        changed |= own != key;
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&serde_json::to_string(&own).unwrap_or_default());
        out.push(':');
        out.push_str(value.get());
    })
    .ok()?;
    out.push('}');
    if !changed {
        return None;
    }
    read(formats, out.as_bytes()).map(|format| (format, out))
}

/// `responseCode`, `RESPONSE_CODE` and `response-code` as `response_code`.
fn snake(key: &str) -> String {
    let shouts = !key.bytes().any(|b| b.is_ascii_lowercase());
    let mut out = String::with_capacity(key.len() + 4);
    let mut before = None;
    for c in key.chars() {
        match c {
            '-' | ' ' => out.push('_'),
            c if c.is_ascii_uppercase() && !shouts => {
                if before.is_some_and(|before: char| before.is_ascii_lowercase() || before.is_ascii_digit()) {
                    out.push('_');
                }
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c.to_ascii_lowercase()),
        }
        before = Some(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn keys_of_every_case_are_one() {
        for key in ["responseCode", "RESPONSE_CODE", "response-code", "ResponseCode", "response_code"] {
            assert_eq!(snake(key), "response_code");
        }
    }
}
