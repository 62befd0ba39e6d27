//! JSON that was written into a string as it is, its quotes not escaped: a hand-written log format around a request body.
//! Knows where such a value begins and ends; a record that can be read otherwise is left alone.

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// How such a value begins: no string that is written properly does, but for `"{"` itself.
const HEAD: &[u8] = br#":"{""#;

/// Whether a text may hold such a value.
pub(super) fn may_hold(text: &[u8]) -> bool {
    memmem::find(text, HEAD).is_some()
}

/// The record with the quotes of such values escaped; none if it is whole JSON already, or none with them.
pub(super) fn mend(record: &[u8]) -> Option<Vec<u8>> {
    if record.first() != Some(&b'{') || !may_hold(record) || is_whole(record) {
        return None;
    }
    let mut out = Vec::with_capacity(record.len() + record.len() / 8);
    let mut from = 0;
    while let Some(next) = memmem::find(&record[from..], HEAD) {
        // Behind the quote, at the brace.
        let start = from + next + 2;
        out.extend_from_slice(&record[from..start]);
        from = start;
        let Some(inner) = object(&record[start..]) else { continue };
        let after = &record[start + inner.len()..];
        let closes = matches!(after, [b'"', rest @ ..] if matches!(rest.trim_ascii_start().first(), Some(b',' | b'}')));
        if closes {
            let quoted = serde_json::to_string(inner).ok()?;
            out.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
            from += inner.len();
        }
    }
    out.extend_from_slice(&record[from..]);
    is_whole(&out).then_some(out)
}

/// The object that a text begins with.
fn object(text: &[u8]) -> Option<&str> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
    values.next()?.ok().map(RawValue::get)
}

fn is_whole(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::mend;

    fn text(record: &str) -> Option<String> {
        mend(record.as_bytes()).map(|mended| String::from_utf8(mended).unwrap())
    }

    #[test]
    fn only_what_cannot_be_read_is_mended() {
        let broken = r#"{"a":"{"k":"v \" }","n":{"m":[1]}}","b":"{"x":1}"}"#;
        let whole = r#"{"a":"{\"k\":\"v \\\" }\",\"n\":{\"m\":[1]}}","b":"{\"x\":1}"}"#;
        assert_eq!(text(broken).as_deref(), Some(whole));
        assert_eq!(text(whole), None);
        assert_eq!(text(r#"{"a":"{","b":1}"#), None, "a brace in a string is no object");
        assert_eq!(text(r#"{"a":"{"k":"v"#), None, "cut off");
        assert_eq!(text(r#"{"a":"{"k":1}" x}"#), None, "something else is broken too");
    }
}
