//! Escapes of half a character (`\ud800` without its other half), which JSON lets a producer write and no text can hold.
//! Knows escapes alone, at whatever depth of JSON in JSON they stand; not what the text around them says.

use memchr::memmem::{self, Finder};
use std::sync::LazyLock;

/// Where a text holds an escape of any half, lone or not; in no order.
pub(super) fn halves(text: &[u8]) -> impl Iterator<Item = usize> {
    static HEADS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| [r"\ud", r"\uD"].map(Finder::new));
    HEADS.iter().flat_map(|head| head.find_iter(text))
}

/// Replaces every lone half in place; true if there was one.
///
/// It becomes the private-use character 0x1000 above it (`\ud800` → `\ue800`): the record keeps its length, and texts that
/// differ stay different.
pub(super) fn mend(text: &mut [u8]) -> bool {
    let mut found = false;
    let mut at = 0;
    while let Some(next) = memmem::find(&text[at..], br"\u") {
        at += next;
        let after = at + 6;
        match half(&text[at..]) {
            Some(Half::High) => {
                // JSON in JSON writes more than one backslash.
                let slashes = text[after..].iter().take_while(|byte| **byte == b'\\').count();
                if slashes > 0 && half(&text[after + slashes - 1..]) == Some(Half::Low) {
                    at = after + slashes + 5;
                    continue;
                }
            }
            Some(Half::Low) => {}
            None => {
                at += 2;
                continue;
            }
        }
        // `d` and `e` differ by one, in either case.
        text[at + 2] += 1;
        found = true;
        at = after;
    }
    found
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// The half that the escape at the start of `text` writes.
fn half(text: &[u8]) -> Option<Half> {
    let [b'\\', b'u', b'd' | b'D', second, a, b, ..] = text else { return None };
    if !a.is_ascii_hexdigit() || !b.is_ascii_hexdigit() {
        return None;
    }
    match second {
        b'8' | b'9' | b'a' | b'b' | b'A' | b'B' => Some(Half::High),
        b'c'..=b'f' | b'C'..=b'F' => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &str) -> (String, bool) {
        let mut bytes = text.as_bytes().to_vec();
        let found = mend(&mut bytes);
        (String::from_utf8(bytes).expect("ASCII for ASCII"), found)
    }

    #[test]
    fn a_lone_half_is_replaced_at_any_depth_and_a_pair_is_kept() {
        for (text, want) in [
            (r#"{"a":"\ud800"}"#, r#"{"a":"\ue800"}"#),
            (r#"{"a":"\uDBFFx"}"#, r#"{"a":"\uEBFFx"}"#),
            (r#"{"a":"\udc00\ud83d"}"#, r#"{"a":"\uec00\ue83d"}"#),
            (r#""{\"a\":\"\\ud800\"}""#, r#""{\"a\":\"\\ue800\"}""#),
            (r"\ud800\ud83d\ude00", r"\ue800\ud83d\ude00"),
        ] {
            assert_eq!(mended(text), (want.to_owned(), true), "{text}");
        }
        for text in
            [r#""\ud83d\ude00""#, r#""\\ud83d\\ude00""#, r"\u00e9", r"\ud8", r"\u", r"\ud7ff", r"\ud8zz"]
        {
            assert_eq!(mended(text), (text.to_owned(), false), "{text}");
        }
    }
}
