//! JSON text taken apart in place: members, elements and where a value ends, without building any value.
//! Knows JSON's structure; what stands inside a value that nobody looks at is only balanced, not validated.
//!
//! The parser of the hot path stands behind this module alone. It was chosen by measurement: serde_json's borrowed raw
//! values scan a wanted value once per level, this scans it once.

use super::marks::Script;
use super::scan;
use std::borrow::Cow;
use std::ops::Range;

/// Why a text is no JSON of the shape asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// It ends in the middle.
    #[error("it ends too early")]
    Ended,
    /// A byte that cannot stand there.
    #[error("a byte that cannot stand there")]
    Foreign,
}

/// The JSON text of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    text: &'a str,
    /// It is a string of which no byte is escaped.
    plain: bool,
}

impl<'a> Raw<'a> {
    /// The text as written.
    #[must_use]
    pub fn get(self) -> &'a str {
        self.text
    }

    /// The string that it is; none for other values.
    #[must_use]
    pub fn string(self) -> Option<Cow<'a, str>> {
        match self.plain_string() {
            Some(inner) => Some(Cow::Borrowed(inner)),
            None => unescaped(self.text).map(Cow::Owned),
        }
    }

    /// Whether it is `null`.
    #[inline]
    #[must_use]
    pub fn is_null(self) -> bool {
        self.text.as_bytes().first() == Some(&b'n')
    }

    /// The same for a string that has no escapes.
    #[inline]
    #[must_use]
    pub fn plain_string(self) -> Option<&'a str> {
        if self.plain { self.text.get(1..self.text.len() - 1) } else { None }
    }
}

/// A quoted string without its quotes and escapes. JSON within JSON is full of plain ones; `\u` is left to serde_json.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let inner = quoted(text)?;
    let mut out = Vec::new();
    if scan::unescape(inner.as_bytes(), &mut out) {
        return String::from_utf8(out).ok();
    }
    serde_json::from_str::<String>(text).ok()
}

/// What stands between the quotes of a string.
fn quoted(text: &str) -> Option<&str> {
    match text.as_bytes() {
        [b'"', .., b'"'] => text.get(1..text.len() - 1),
        _ => None,
    }
}

/// Hands every member of the object that `json` is to `each`.
///
/// # Errors
/// [`Broken`]: no object, or something stands behind it.
pub fn members<'a>(json: &'a str, mut each: impl FnMut(&str, Raw<'a>)) -> Result<(), Broken> {
    whole_object(json, &mut |key, value| {
        let (raw, end) = value_at(json, value)?;
        each(key, raw);
        Ok(end)
    })
}

/// Walks the object that `json` is: `each` gets a key and the place of its value, and gives the value's end.
///
/// # Errors
/// As [`members`].
pub(crate) fn whole_object(
    json: &str,
    each: &mut impl FnMut(&str, usize) -> Result<usize, Broken>,
) -> Result<(), Broken> {
    let end = object(json, space(json.as_bytes(), 0), each)?;
    finish(json, end)
}

/// The same for an object that is cut off: also hands over the rest that the last key begins, which is no whole value.
/// What is no object, or breaks in another way, gives what stood before the break.
pub(crate) fn members_of_head<'a>(json: &'a str, mut each: impl FnMut(&str, Cut<'a>)) {
    let at = space(json.as_bytes(), 0);
    let _ = object(json, at, &mut |key, value| match value_at(json, value) {
        Ok((raw, end)) if end < json.len() => {
            each(key, Cut::Whole(raw));
            Ok(end)
        }
        // A bare value that ends with the text may go on.
        Ok(_) | Err(Broken::Ended) => {
            each(key, Cut::Rest(json.get(value..).unwrap_or_default()));
            Err(Broken::Ended)
        }
        Err(why) => Err(why),
    });
}

/// A value in a text that is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut<'a> {
    /// It stood before the cut.
    Whole(Raw<'a>),
    /// The cut goes through it.
    Rest(&'a str),
}

/// Hands every element of the list that `json` is to `each`.
///
/// # Errors
/// As [`members`].
pub fn elements<'a>(json: &'a str, mut each: impl FnMut(Raw<'a>)) -> Result<(), Broken> {
    whole_list(json, 0..json.len(), &mut |at| {
        let (raw, end) = value_at(json, at)?;
        each(raw);
        Ok(end)
    })
}

/// Walks the list that a part of `json` is: `each` gets the place of an element, and gives its end.
///
/// # Errors
/// [`Broken`]: no list, or something stands behind it.
pub(super) fn whole_list(
    json: &str,
    part: Range<usize>,
    each: &mut impl FnMut(usize) -> Result<usize, Broken>,
) -> Result<(), Broken> {
    let end = list(json, space(json.as_bytes(), part.start), each)?;
    if space(json.as_bytes(), end) == part.end { Ok(()) } else { Err(Broken::Foreign) }
}

/// Walks the list at `at`; `each` gets the place of an element, and gives its end. Gives the list's.
pub(super) fn list(
    json: &str,
    at: usize,
    each: &mut impl FnMut(usize) -> Result<usize, Broken>,
) -> Result<usize, Broken> {
    let b = json.as_bytes();
    expect(b, at, b'[')?;
    let mut at = space(b, at + 1);
    if b.get(at) == Some(&b']') {
        return Ok(at + 1);
    }
    loop {
        at = space(b, each(at)?);
        match b.get(at) {
            Some(b',') => at = space(b, at + 1),
            Some(b']') => return Ok(at + 1),
            Some(_) => return Err(Broken::Foreign),
            None => return Err(Broken::Ended),
        }
    }
}

/// Walks the object at `at`; `each` gets a key and the place of its value, and gives the value's end. Gives the object's.
#[inline]
pub(crate) fn object(
    json: &str,
    at: usize,
    each: &mut impl FnMut(&str, usize) -> Result<usize, Broken>,
) -> Result<usize, Broken> {
    let b = json.as_bytes();
    expect(b, at, b'{')?;
    let mut at = space(b, at + 1);
    if b.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    loop {
        expect(b, at, b'"')?;
        let (end, plain) = scan::string_end(b, at)?;
        let key = Raw { text: &json[at..end], plain };
        at = space(b, end);
        expect(b, at, b':')?;
        at = space(b, at + 1);
        let value_end = match key.plain_string() {
            Some(inner) => each(inner, at)?,
            None => each(&key.string().ok_or(Broken::Foreign)?, at)?,
        };
        at = space(b, value_end);
        match b.get(at) {
            Some(b',') => at = space(b, at + 1),
            Some(b'}') => return Ok(at + 1),
            Some(_) => return Err(Broken::Foreign),
            None => return Err(Broken::Ended),
        }
    }
}

/// The value that begins at `at`, and where it ends.
///
/// # Errors
/// [`Broken`]: no value begins there, or it has no end.
#[inline]
pub(crate) fn value_at<'a>(json: impl Script<'a>, at: usize) -> Result<(Raw<'a>, usize), Broken> {
    let (end, plain) = end(json, at)?;
    Ok((Raw { text: &json.text()[at..end], plain }, end))
}

/// A value that is no string, by its place and end.
#[inline]
pub(crate) fn no_string(json: &str, at: usize, end: usize) -> Raw<'_> {
    Raw { text: &json[at..end], plain: false }
}

/// Where the value that begins at `at` ends.
///
/// # Errors
/// As [`value_at`].
#[inline]
pub(super) fn skip<'a>(json: impl Script<'a>, at: usize) -> Result<usize, Broken> {
    end(json, at).map(|(end, _)| end)
}

/// What a number, `true`, `false` and `null` are written with.
const BARE: [bool; 256] = {
    let (mut table, mut at) = ([false; 256], 0);
    while at < 256 {
        let byte = at as u8;
        table[at] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        at += 1;
    }
    table
};

/// Where the value that begins at `at` ends, and whether it is a string of which no byte is escaped.
#[inline]
fn end<'a>(json: impl Script<'a>, at: usize) -> Result<(usize, bool), Broken> {
    let b = json.text().as_bytes();
    match b.get(at) {
        Some(b'"') => json.string_end(at),
        Some(b'{' | b'[') => json.nest_end(at).map(|end| (end, false)),
        Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
            let rest = &b[at..];
            let bare = rest.iter().position(|byte| !BARE[usize::from(*byte)]);
            Ok((at + bare.unwrap_or(rest.len()), false))
        }
        Some(_) => Err(Broken::Foreign),
        None => Err(Broken::Ended),
    }
}

#[inline]
pub(super) fn space(b: &[u8], mut at: usize) -> usize {
    loop {
        match b.get(at) {
            Some(byte) if *byte <= b' ' && matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            _ => return at,
        }
    }
}

fn expect(b: &[u8], at: usize, byte: u8) -> Result<(), Broken> {
    match b.get(at) {
        Some(there) if *there == byte => Ok(()),
        Some(_) => Err(Broken::Foreign),
        None => Err(Broken::Ended),
    }
}

fn finish(json: &str, end: usize) -> Result<(), Broken> {
    if space(json.as_bytes(), end) == json.len() { Ok(()) } else { Err(Broken::Foreign) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\"\\\\\n{}\\[\\],:é]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[a-z\"\\\\]{0,4}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn members_are_those_that_a_whole_parser_finds(value in value(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let mut found = serde_json::Map::new();
            let read = members(&text, |key, raw| {
                found.insert(key.to_owned(), serde_json::from_str(raw.get()).expect("a member is JSON"));
            });
            prop_assert_eq!(read.is_ok(), value.is_object());
            if value.is_object() {
                prop_assert_eq!(Value::Object(found), value);
            }
        }

        #[test]
        fn elements_are_those_that_a_whole_parser_finds(list in proptest::collection::vec(value(), 0..6)) {
            let mut found = Vec::new();
            let text = Value::from(list.clone()).to_string();
            elements(&text, |raw| found.push(serde_json::from_str::<Value>(raw.get()).expect("an element is JSON")))
                .expect("a list is a list");
            prop_assert_eq!(found, list);
        }

        #[test]
        fn a_text_that_is_cut_off_is_told_as_such(value in value(), cut in 0usize..200) {
            let text = serde_json::json!({"a": value, "b": "x"}).to_string();
            let cut = text.floor_char_boundary(cut.min(text.len() - 1));
            prop_assert_eq!(members(&text[..cut], |_, _| {}), Err(Broken::Ended));
        }
    }

    proptest! {
        #[test]
        fn strings_are_read_as_a_whole_parser_reads_them(text in "[a-c\"\\\\/\n\t\r\u{8}\u{c}\u{1}é🚀]{0,40}") {
            let written = Value::from(text.clone()).to_string();
            prop_assert_eq!(unescaped(&written), Some(text));
        }
    }

    #[test]
    fn escapes_that_are_none_are_no_string() {
        for text in [r#""\x""#, r#""\u12""#, r#""\ud800""#, r#""a\"#] {
            assert_eq!(unescaped(text), None, "{text}");
        }
        assert_eq!(unescaped(r#""\u00e9\/\"""#).as_deref(), Some("é/\""));
    }

    #[test]
    fn what_stands_behind_an_object_is_foreign() {
        for text in ["{} x", "{\"a\":1}}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{,}", "x", "[1]"] {
            assert_eq!(members(text, |_, _| {}), Err(Broken::Foreign), "{text}");
        }
    }
}
