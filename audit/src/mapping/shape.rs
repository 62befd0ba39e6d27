//! A hash of JSON text that equal values share, however they are written: the order of names, blanks, escapes and the
//! notation of numbers do not count (contract 3.6).
//! Knows that it may not tell two values apart; it never tells equal ones apart. Nothing is copied or sorted.

use super::json::{self, Broken};
use super::level::{self, Word};
use super::marks::Script;

/// Deeper values have no canonical form either, and no hash.
const MAX_DEPTH: usize = unbroken_contract::canonical::MAX_DEPTH;

/// What stands for a string with a lone surrogate.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of the value at `at`, and where the value ends. A text that stands as a string within other JSON is `DEEP`.
///
/// # Errors
/// [`Broken`]: no JSON, or nested too deep.
pub(super) fn of<'a, const DEEP: bool>(script: impl Script<'a>, at: usize) -> Result<(u64, usize), Broken> {
    value::<DEEP>(script, at, 0, &mut Vec::new())
}

fn value<'a, const DEEP: bool>(
    script: impl Script<'a>,
    at: usize,
    depth: usize,
    room: &mut Vec<u8>,
) -> Result<(u64, usize), Broken> {
    if depth > MAX_DEPTH {
        return Err(Broken::Foreign);
    }
    let text = script.text();
    match text.as_bytes().get(at) {
        Some(b'{') => {
            // Members have no order, so their hashes are added up.
            let mut sum: u64 = 0x243f_6a88_85a3_08d3;
            let end = level::members::<DEEP>(script, at, |key, value_at| {
                let (hash, end) = value::<DEEP>(script, value_at, depth + 1, room)?;
                sum = sum.wrapping_add(mix(string::<DEEP>(key, room), hash));
                Ok(end)
            })?;
            Ok((mix(sum, 1), end))
        }
        Some(b'[') => {
            let mut hash: u64 = 0x1319_8a2e_0370_7344;
            let end = json::list(text, at, &mut |element| {
                let (next, end) = value::<DEEP>(script, element, depth + 1, room)?;
                hash = mix(hash, next);
                Ok(end)
            })?;
            Ok((mix(hash, 2), end))
        }
        Some(b'"' | b'\\') => {
            let (word, end) = level::word::<DEEP>(script, at)?;
            Ok((string::<DEEP>(word, room), end))
        }
        Some(_) => {
            let end = json::skip(script, at)?;
            Ok((scalar(&text[at..end]), end))
        }
        None => Err(Broken::Ended),
    }
}

#[inline]
fn string<const DEEP: bool>(word: Word<'_>, room: &mut Vec<u8>) -> u64 {
    if word.plain {
        return rapidhash::v3::rapidhash_v3(word.text.as_bytes());
    }
    room.clear();
    word.undo::<DEEP>(room).map_or(ODD, |()| rapidhash::v3::rapidhash_v3(room))
}

/// Numbers by the double next to them, since numbers whose canonical forms are equal have the same one.
fn scalar(text: &str) -> u64 {
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => match short(text.as_bytes()).or_else(|| text.parse().ok()) {
            // Zero has two signs and one canonical form.
            Some(number) => mix((number + 0.0).to_bits(), 3),
            None => ODD,
        },
        _ => rapidhash::v3::rapidhash_v3(text.as_bytes()),
    }
}

/// The double next to a number of few digits without exponent, as most are. Digits and power of ten are doubles themselves,
/// so that their quotient is rounded once, as it has to be.
fn short(text: &[u8]) -> Option<f64> {
    const TENS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // With its point, less than 2^53.
    if digits.len() > 16 {
        return None;
    }
    let (mut number, mut point) = (0u64, digits.len());
    for (at, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => number = number * 10 + u64::from(byte - b'0'),
            b'.' if point == digits.len() && at > 0 && at + 1 < digits.len() => point = at,
            _ => return None,
        }
    }
    if digits.len() == 16 && point == digits.len() || digits.is_empty() {
        return None;
    }
    let decimals = digits.len().saturating_sub(point + 1);
    let number = number as f64 / TENS[decimals];
    Some(if digits.len() < text.len() { -number } else { number })
}

fn mix(a: u64, b: u64) -> u64 {
    let wide = u128::from(a ^ 0xa076_1d64_78bd_642f) * u128::from(b ^ 0xe703_7ed1_a0b4_28db);
    (wide as u64) ^ (wide >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn hash(text: &str) -> u64 {
        of::<false>(text, 0).expect("the text is JSON").0
    }

    fn same(a: &str, b: &str) -> bool {
        use unbroken_contract::canonical::canonical;
        canonical(a.as_bytes()).expect("JSON") == canonical(b.as_bytes()).expect("JSON")
    }

    #[test]
    fn notation_does_not_count() {
        for (a, b) in [
            (r#"{"a":1,"b":[1,2]}"#, r#"{ "b" : [1.0, 2e0], "a":1.00}"#),
            (r#"{"a":"é\n"}"#, r#"{"\u0061":"\u00e9\u000a"}"#),
            ("0", "-0"),
            ("0.1", "1e-1"),
            ("1e21", "1000000000000000000000"),
            (r#""\ud83d\ude80""#, "\"🚀\""),
            ("[]", "[ ]"),
            ("{}", "{ }"),
        ] {
            assert!(same(a, b), "{a} {b}");
            assert_eq!(hash(a), hash(b), "{a} {b}");
        }
    }

    #[test]
    fn values_that_differ_are_mostly_told_apart() {
        let texts = [
            "{}",
            "[]",
            "[[]]",
            "null",
            "true",
            "0",
            "1",
            "\"\"",
            "\"a\"",
            "[1,2]",
            "[2,1]",
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
        ];
        for (at, a) in texts.iter().enumerate() {
            for b in &texts[at + 1..] {
                assert_ne!(hash(a), hash(b), "{a} {b}");
            }
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(|n| serde_json::Number::from_f64(n).map_or(Value::Null, Value::Number)),
            "[a-c\"\\\\\n{}é🚀]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[a-e\"]{0,3}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// The value in other words: names in reverse, blanks, every letter escaped, numbers with an exponent.
    fn reworded(value: &Value, out: &mut String) {
        match value {
            Value::Array(list) => {
                out.push_str("[ ");
                for (at, one) in list.iter().enumerate() {
                    out.push_str(if at > 0 { " ,\n" } else { "" });
                    reworded(one, out);
                }
                out.push_str("\t]");
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (name, one)) in members.iter().rev().enumerate() {
                    out.push_str(if at > 0 { ", " } else { " " });
                    escaped(name, out);
                    out.push_str(" : ");
                    reworded(one, out);
                }
                out.push('}');
            }
            Value::String(text) => escaped(text, out),
            Value::Number(number) => {
                out.push_str(&number.to_string());
                if !number.to_string().contains('e') {
                    out.push_str("e0");
                }
            }
            other => out.push_str(&other.to_string()),
        }
    }

    fn escaped(text: &str, out: &mut String) {
        out.push('"');
        for unit in text.encode_utf16() {
            out.push_str(&format!("\\u{unit:04X}"));
        }
        out.push('"');
    }

    proptest! {
        #[test]
        fn short_numbers_are_what_the_parser_makes_of_them(text in "-?([0-9]{0,18}|[0-9]{0,9}\\.?[0-9]{0,9}|[0-9.e-]{0,6})") {
            if let Some(number) = short(text.as_bytes()) {
                prop_assert_eq!(Ok(number.to_bits()), text.parse::<f64>().map(f64::to_bits), "{}", text);
            }
        }
    }

    proptest! {
        #[test]
        fn equal_values_have_equal_hashes(value in json()) {
            let plain = value.to_string();
            let mut other = String::new();
            reworded(&value, &mut other);
            prop_assume!(same(&plain, &other));
            prop_assert_eq!(hash(&plain), hash(&other));
        }

        #[test]
        fn a_text_within_json_has_the_hash_that_it_has_alone(value in json()) {
            let mut other = String::new();
            reworded(&value, &mut other);
            for text in [value.to_string(), format!("{value:#}"), other] {
                let written = Value::from(text.clone()).to_string();
                let inner = &written[1..written.len() - 1];
                if let Ok((deep, end)) = of::<true>(inner, 0) {
                    prop_assert_eq!((deep, end), (hash(&text), inner.len()), "{}", inner);
                } else {
                    // Blanks that are escapes, and numbers and words alone, are left to the undone text.
                    prop_assert!(text.contains(['\n', '\t']), "{}", inner);
                }
            }
        }
    }
}
