//! Fields of JSON access logs: text or number, quoted or not, with the producers' ways to write "absent".
//! Knows no field's name and no format.

use crate::event::{Nanos, Text};
use crate::mapping::clock;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A scalar field as text. Templates quote numbers or not as the operator likes, so both are read alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field<'a>(Cow<'a, str>);

impl Field<'_> {
    /// The value; none for `""` and `"-"`, which nginx, HAProxy and Envoy write for an absent one.
    #[must_use]
    pub fn get(&self) -> Option<&str> {
        match &*self.0 {
            "" | "-" => None,
            text => Some(text),
        }
    }

    /// The text as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, owned.
    #[must_use]
    pub fn text(&self) -> Option<Text> {
        self.get().map(Text::from)
    }

    /// The value as a whole number.
    #[must_use]
    pub fn number<T: std::str::FromStr>(&self) -> Option<T> {
        let text = self.get()?;
        text.parse().ok().or_else(|| clock::whole(text)?.to_string().parse().ok())
    }

    /// The value as seconds with decimals, in nanoseconds.
    #[must_use]
    pub fn seconds(&self) -> Option<Nanos> {
        decimal(self.get()?, 9)
    }

    /// The value as milliseconds, in nanoseconds; negative ones mean "did not happen" (HAProxy writes -1).
    #[must_use]
    pub fn millis(&self) -> Option<Nanos> {
        decimal(self.get()?, 6).filter(|nanos| *nanos >= 0)
    }
}

/// A field of a record that may lack it. A field that is there but empty counts as logged.
pub trait Slot {
    /// See [`Field::get`].
    fn get(&self) -> Option<&str>;
    /// See [`Field::text`].
    fn text(&self) -> Option<Text>;
    /// See [`Field::number`].
    fn number<T: std::str::FromStr>(&self) -> Option<T>;
    /// See [`Field::seconds`].
    fn seconds(&self) -> Option<Nanos>;
    /// See [`Field::millis`].
    fn millis(&self) -> Option<Nanos>;
}

impl Slot for Option<Field<'_>> {
    fn get(&self) -> Option<&str> {
        self.as_ref().and_then(Field::get)
    }
    fn text(&self) -> Option<Text> {
        self.as_ref().and_then(Field::text)
    }
    fn number<T: std::str::FromStr>(&self) -> Option<T> {
        self.as_ref().and_then(Field::number)
    }
    fn seconds(&self) -> Option<Nanos> {
        self.as_ref().and_then(Field::seconds)
    }
    fn millis(&self) -> Option<Nanos> {
        self.as_ref().and_then(Field::millis)
    }
}

/// Reads a decimal number scaled by ten to the power of `scale`, without floats; digits beyond the scale are dropped.
#[must_use]
pub fn decimal(text: &str, scale: u32) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for digit in whole.bytes() {
        value =
            value.checked_mul(10)?.checked_add(i64::from(digit.is_ascii_digit().then(|| digit - b'0')?))?;
    }
    let mut left = scale;
    for digit in fraction.bytes() {
        let digit = i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        if left > 0 {
            value = value.checked_mul(10)?.checked_add(digit)?;
            left -= 1;
        }
    }
    value.checked_mul(10_i64.checked_pow(left)?)?.checked_mul(sign)
}

/// How fine a decimal seconds text is: nanoseconds of its last digit.
#[must_use]
pub fn precision(seconds: &str) -> Nanos {
    let digits = seconds.split_once('.').map_or(0, |(_, fraction)| fraction.len().min(9));
    10_i64.pow(9 - u32::try_from(digits).unwrap_or(9))
}

/// Reads an RFC 3339 time with a zone, in nanoseconds since the epoch.
#[must_use]
pub fn rfc3339(text: &str) -> Option<Nanos> {
    let stamp: jiff::Timestamp = text.parse().ok()?;
    i64::try_from(stamp.as_nanosecond()).ok()
}

/// Reads `14/Aug/2026:09:00:00.120` with an optional ` +0200` (common log format, HAProxy): nanoseconds, and whether a
/// zone was written; without one, UTC is taken.
#[must_use]
pub fn common_log_time(text: &str) -> Option<(Nanos, bool)> {
    let (stamp, zone) = match text.split_once(' ') {
        Some((stamp, zone)) => (stamp, Some(zone)),
        None => (text, None),
    };
    let (stamp, fraction) = stamp.split_once('.').unwrap_or((stamp, ""));
    let civil = jiff::civil::DateTime::strptime("%d/%b/%Y:%H:%M:%S", stamp).ok()?;
    let seconds = jiff::tz::Offset::UTC.to_timestamp(civil).ok()?.as_second();
    let offset = match zone {
        Some(zone) => {
            let (sign, digits) = zone.split_at_checked(1)?;
            let (hours, minutes) = digits.split_at_checked(2)?;
            let (hours, minutes) = (hours.parse::<u8>().ok()?, minutes.parse::<u8>().ok()?);
            if hours >= 24 || minutes >= 60 {
                return None;
            }
            let span = i64::from(hours) * 3600 + i64::from(minutes) * 60;
            if sign == "-" { -span } else { span }
        }
        None => 0,
    };
    let nanos = if fraction.is_empty() { 0 } else { decimal(&format!("0.{fraction}"), 9)? };
    Some(((seconds - offset).checked_mul(1_000_000_000)?.checked_add(nanos)?, zone.is_some()))
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Field(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Field(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Field(Cow::Owned(text)))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Field(Cow::Owned(number.to_string())))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Field(Cow::Owned(number.to_string())))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Field(Cow::Owned(number.to_string())))
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Field(Cow::Borrowed(if flag { "true" } else { "false" })))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Field::default())
    }
    // A field of another shape than expected is as good as absent; the record's other fields still count.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Field<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor)
    }
}

/// Reads a value of which an object or list counts as its JSON text: a body may be logged as text or as it is.
pub struct Whole<'a>(pub Field<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Whole<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de serde_json::value::RawValue>::deserialize(deserializer)?.get();
        if raw.starts_with(['{', '[']) {
            return Ok(Whole(Field(Cow::Borrowed(raw))));
        }
        serde_json::from_str(raw).map(Whole).map_err(serde::de::Error::custom)
    }
}

/// Declares a record's fields, each under the keys that it is met under or may be built of ([`super::names`]). A key that comes twice, or two keys of one
/// field, are no error: the first that holds something counts. `whole`: an object counts as its text.
macro_rules! record_fields {
    (@read $map:ident) => { $map.next_value::<$crate::adapter::field::Field<'de>>()? };
    (@read $map:ident whole) => { $map.next_value::<$crate::adapter::field::Whole<'de>>()?.0 };
    ($(#[$doc:meta])* $name:ident { $($slot:ident: $($key:literal)|+ $(=> $kind:ident)?;)* }) => {
        $(#[$doc])*
        #[derive(Default)]
        struct $name<'a> {
            $($slot: Option<$crate::adapter::field::Field<'a>>,)*
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name<'de>;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a JSON object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut line = $name::default();
                        while let Some(key) = map.next_key::<$crate::adapter::field::Field<'de>>()? {
                            match key.as_str() {
                                $($($key)|+ => {
                                    let value = $crate::adapter::field::record_fields!(@read map $($kind)?);
                                    $crate::adapter::field::first(&mut line.$slot, value);
                                })*
                                other => match $crate::adapter::names::usual(other) {
                                    $(Some($($key)|+) => {
                                        let value = $crate::adapter::field::record_fields!(@read map $($kind)?);
                                        $crate::adapter::field::first(&mut line.$slot, value);
                                    })*
                                    _ => {
                                        map.next_value::<serde::de::IgnoredAny>()?;
                                    }
                                },
                            }
                        }
                        Ok(line)
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
}
pub(crate) use record_fields;

/// Keeps the first value that holds something.
pub fn first<'a>(slot: &mut Option<Field<'a>>, value: Field<'a>) {
    if slot.as_ref().is_none_or(|held| held.get().is_none()) {
        *slot = Some(value);
    }
}

/// JSON text in which nginx wrote `\xNN` for a byte, as it does without `escape=json`: quotes, backslashes, control bytes
/// and all bytes beyond ASCII. None if there is no such escape.
pub(super) fn without_hex_escapes(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(text, b"\\x")?;
    let mut mended = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        mended.extend_from_slice(&rest[..at]);
        let byte = (rest.get(at + 1) == Some(&b'x')).then(|| hex(rest.get(at + 2..at + 4)?)).flatten();
        match byte {
            Some(byte @ (b'"' | b'\\')) => mended.extend_from_slice(&[b'\\', byte]),
            Some(byte @ 0..0x20) => mended.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            Some(byte) => mended.push(byte),
            // Another escape, or a backslash that stands for itself: left as it is, with what it escapes.
            None => mended.extend_from_slice(&rest[at..rest.len().min(at + 2)]),
        }
        rest = &rest[rest.len().min(at + if byte.is_some() { 4 } else { 2 })..];
    }
    mended.extend_from_slice(rest);
    Some(mended)
}

fn hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_scaled_without_floats() {
        assert_eq!(decimal("1795961850.396", 9), Some(1_795_961_850_396_000_000));
        assert_eq!(decimal("-1", 6), Some(-1_000_000));
        assert_eq!(decimal("7.074594497680664", 6), Some(7_074_594));
        assert_eq!(decimal("1e3", 9), None);
        assert_eq!(decimal(".", 9), None);
        assert_eq!((precision("1.25"), precision("7")), (10_000_000, 1_000_000_000));
    }

    #[test]
    fn common_log_times_with_and_without_zone() {
        assert_eq!(common_log_time("29/Nov/2026:14:17:40.117"), Some((1_795_961_860_117_000_000, false)));
        assert_eq!(common_log_time("29/Nov/2026:16:17:40 +0200"), Some((1_795_961_860_000_000_000, true)));
        assert_eq!(common_log_time("29/Foo/2026:16:17:40"), None);
    }

    #[test]
    fn quoted_and_bare_values_are_read_alike() {
        let read = |json: &'static str| serde_json::from_str::<Field<'_>>(json).expect("valid JSON");
        assert_eq!(read("\"200\"").number::<u16>(), Some(200));
        assert_eq!(read("200").number::<u16>(), Some(200));
        assert_eq!((read("\"-\"").get(), read("null").get(), read("[1]").get()), (None, None, None));
    }

    #[test]
    fn hex_escapes_become_json() {
        let mend = |text: &str| without_hex_escapes(text.as_bytes()).map(|b| String::from_utf8(b).unwrap());
        assert_eq!(mend(r#"{"a":"plain \n"}"#), None);
        assert_eq!(
            mend(r#"{"a":"{\x22k\x22:\x22v\x5C\x22\x22}\x0A"}"#).as_deref(),
            Some("{\"a\":\"{\\\"k\\\":\\\"v\\\\\\\"\\\"}\\u000a\"}")
        );
        assert_eq!(mend(r#"{"a":"\xC3\xA9"}"#).as_deref(), Some("{\"a\":\"é\"}"));
        // What is no such escape stays as it is, for the parser to name.
        assert_eq!(mend(r#"\\x22 \xZZ \x"#).as_deref(), Some(r#"\\x22 \xZZ \x"#));
    }
}
