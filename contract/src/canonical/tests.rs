//! What canonical forms promise, against RFC 8785's own examples and against serde_json.
//! Knows the writer only from outside.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

fn form(json: &str) -> String {
    String::from_utf8(canonical(json.as_bytes()).unwrap_or_else(|e| panic!("{e}: {json}"))).unwrap()
}

fn problem(json: &[u8]) -> (usize, Problem) {
    let error = canonical(json).expect_err("accepted");
    (error.at, error.problem)
}

#[test]
fn rfc_8785_section_3_2_2() {
    let input = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    // The RFC rounds the first number; a decimal that a double changes stays as written here (contract 3.6).
    assert_eq!(
        form(input),
        r#"{"literals":[null,true,false],"numbers":[333333333.33333329,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
}

#[test]
fn rfc_8785_section_3_2_3_sorts_by_utf_16() {
    let input = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let value: Value = serde_json::from_str(&form(input)).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 7);
    let output = form(input);
    let places: Vec<usize> = ["\\r", "1", "\u{80}", "ö", "€", "😀", "\u{fb33}"]
        .iter()
        .map(|name| output.find(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name} in {output}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn rfc_8785_appendix_b_numbers() {
    for (written, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0e7", "0"),
        ("5e-324", "5e-324"),
        ("-5e-324", "-5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("9007199254740992", "9007199254740992"),
        ("295147905179352830000", "295147905179352830000"),
        ("9.999999999999997e22", "9.999999999999997e+22"),
        ("1e23", "1e+23"),
        ("1e21", "1e+21"),
        ("1e20", "100000000000000000000"),
        ("999999999999999900000", "999999999999999900000"),
        ("1e-6", "0.000001"),
        ("0.0000009", "9e-7"),
        ("1e-7", "1e-7"),
        ("333333333.3333332", "333333333.3333332"),
        ("-0.0000033333333333333333", "-0.0000033333333333333333"),
        ("1424953923781206.2", "1424953923781206.2"),
        ("1.50", "1.5"),
        ("100", "100"),
        ("1.0", "1"),
        ("1E2", "100"),
        ("123456789012345678", "123456789012345678"),
    ] {
        assert_eq!(form(written), expected, "{written}");
    }
}

#[test]
fn numbers_a_double_cannot_hold_stay_as_written() {
    for written in
        ["9007199254740993", "1e400", "-1E400", "1e-400", "0.10000000000000001", "12345678901234567890123"]
    {
        assert_eq!(form(written), written);
    }
    let many = "9".repeat(100_000);
    assert_eq!(form(&many), many);
    let exponent = format!("1e{}", "9".repeat(1000));
    assert_eq!(form(&exponent), exponent);
}

#[test]
fn objects_with_duplicate_names_stay_as_written() {
    assert_eq!(form(r#"{"b":1,"a": {"x" : 1.0, "\u0078":2} }"#), r#"{"a":{"x" : 1.0, "\u0078":2},"b":1}"#);
    assert_ne!(form(r#"{"a":1,"a":2}"#), form(r#"{"a":2,"a":1}"#));
}

#[test]
fn the_closing_quote_takes_no_part_in_the_order() {
    assert_eq!(form(r#"{"a!":1,"a":2}"#), r#"{"a":2,"a!":1}"#);
}

#[test]
fn lone_surrogates_stay_escapes() {
    assert_eq!(form(r#""\uD800x\uDC00""#), r#""\ud800x\udc00""#);
    assert_eq!(form(r#""\uD83D\uDE00""#), "\"😀\"");
    assert_eq!(form(r#""\uD83D\uD83D\uDE00""#), "\"\\ud83d😀\"");
}

#[test]
fn what_is_not_json_is_named_with_its_place() {
    assert_eq!(problem(b""), (0, Problem::Ended));
    assert_eq!(problem(b"  "), (2, Problem::Ended));
    assert_eq!(problem(b"{\"a\":1"), (6, Problem::Ended));
    assert_eq!(problem(b"[1,]"), (3, Problem::Unexpected));
    assert_eq!(problem(b"{\"a\":1,}"), (7, Problem::Unexpected));
    assert_eq!(problem(b"[1}"), (2, Problem::Unexpected));
    assert_eq!(problem(b"{1:2}"), (1, Problem::Unexpected));
    assert_eq!(problem(b"{\"a\" 1}"), (5, Problem::Unexpected));
    assert_eq!(problem(b"nul"), (3, Problem::Ended));
    assert_eq!(problem(b"nulx"), (3, Problem::Unexpected));
    assert_eq!(problem(b"1 2"), (2, Problem::Trailing));
    assert_eq!(problem(b"01"), (1, Problem::BadNumber));
    assert_eq!(problem(b"1.x"), (2, Problem::BadNumber));
    assert_eq!(problem(b"-"), (1, Problem::Ended));
    assert_eq!(problem(b"\"\\x\""), (1, Problem::BadEscape));
    assert_eq!(problem(b"\"\\u12g4\""), (1, Problem::BadEscape));
    assert_eq!(problem(b"\"\\u12"), (1, Problem::Ended));
    assert_eq!(problem(b"\"\\"), (2, Problem::Ended));
    assert_eq!(problem(b"\"\n\""), (1, Problem::ControlCharacter));
    assert_eq!(problem(b"\"\xff\""), (1, Problem::NotUtf8));
}

#[test]
fn depth_is_bounded_without_a_stack() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(canonical(deep(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(problem(deep(MAX_DEPTH + 1).as_bytes()), (MAX_DEPTH, Problem::TooDeep));
    assert_eq!(problem("[".repeat(100_000).as_bytes()), (MAX_DEPTH, Problem::TooDeep));
}

#[test]
fn a_value_within_a_text_ends_where_it_ends() {
    let mut out = Vec::new();
    let text = r#"{"a": {"c":1.0,"b":2} ,"d":3"#;
    assert_eq!(Canonicalizer::new().write_value(text, 6, &mut out), Ok(text.find(" ,").unwrap()));
    assert_eq!(out, br#"{"b":2,"c":1}"#);
}

#[test]
fn a_failed_write_leaves_the_buffer_as_it_was() {
    let mut writer = Canonicalizer::new();
    let mut out = b"kept".to_vec();
    assert!(writer.write(b"{\"b\":1,\"a\":[2", &mut out).is_err());
    assert_eq!(out, b"kept");
    writer.write(b" [ ] ", &mut out).unwrap();
    assert_eq!(out, b"kept[]");
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The same value with every object's members written in another order, with spaces, and with names as escapes.
fn rewritten(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            out.push_str("{ ");
            for (index, (name, member)) in members.iter().rev().enumerate() {
                if index > 0 {
                    out.push_str(" ,\n");
                }
                out.push('"');
                name.encode_utf16().for_each(|unit| out.push_str(&format!("\\u{unit:04X}")));
                out.push_str("\"\t: ");
                rewritten(member, out);
            }
            out.push_str(" }");
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str("\r,");
                }
                rewritten(item, out);
            }
            out.push(']');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}

proptest! {
    #[test]
    fn the_form_is_idempotent_and_blind_to_order(value in values()) {
        let once = form(&value.to_string());
        prop_assert_eq!(&form(&once), &once);
        let mut other = String::new();
        rewritten(&value, &mut other);
        prop_assert_eq!(form(&other), once);
    }

    #[test]
    fn the_form_reads_back_as_the_same_value(value in values()) {
        let back: Value = serde_json::from_str(&form(&value.to_string())).unwrap();
        prop_assert!(alike(&back, &value), "{} {}", back, value);
    }

    #[test]
    fn every_double_is_printed_as_its_shortest_text(bits in any::<u64>()) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        let printed = form(&format!("{double:e}"));
        let read: f64 = printed.parse().unwrap();
        prop_assert_eq!(read.to_bits(), if double == 0.0 { 0 } else { bits });
        let mantissa = |text: &str| {
            let digits: String = text.chars().take_while(|c| *c != 'e').filter(char::is_ascii_digit).collect();
            digits.trim_matches('0').to_owned()
        };
        prop_assert_eq!(mantissa(&printed), mantissa(&format!("{double:e}")));
    }

    #[test]
    fn the_smallest_doubles_read_back_too(bits in 0u64..1 << 52) {
        let value = Value::from(f64::from_bits(bits));
        let back: Value = serde_json::from_str(&form(&value.to_string())).unwrap();
        prop_assert!(alike(&back, &value), "{} {}", back, value);
    }

    /// An exponent of zero says nothing, but is read digit by digit and asked of a double.
    #[test]
    fn a_number_without_exponent_is_what_a_double_makes_of_it(
        written in "-?(0|[1-9][0-9]{0,17})(\\.(0{1,8})?[0-9]{1,17})?",
    ) {
        let asked = format!("{written}e0");
        let form_asked = form(&asked);
        prop_assert_eq!(form(&written), if form_asked == asked { written } else { form_asked });
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let accepted = canonical(&bytes).is_ok();
        prop_assert!(!accepted || serde_json::from_slice::<Value>(&bytes).is_ok() || lenient(&bytes));
    }

    #[test]
    fn json_like_text_is_judged_as_serde_json_judges_it(text in "[\\[\\]{}\",:0-9eE.+\\-\\\\untfalsr ]{0,24}") {
        let ours = canonical(text.as_bytes()).is_ok();
        let theirs = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert!(ours == theirs || lenient(text.as_bytes()), "{} {} {}", text, ours, theirs);
    }
}

/// What serde_json refuses and this reads: numbers beyond a double, and lone surrogates.
fn lenient(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'e' | b'E')) || text.windows(2).any(|pair| pair == b"\\u")
}

/// Equal but for the last digit of a double, which serde_json does not always read exactly.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            // The reader may give a neighbour; those of the smallest doubles lie far apart for their size.
            (a - b).abs() <= (a.abs() * 1e-15).max(1e-323)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| alike(value, other)))
        }
        _ => a == b,
    }
}
