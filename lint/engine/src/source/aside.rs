//! What of a text is not read: doc comments, and what stands in modules that exist only in tests.
//! Knows where they begin and end, not what they hold.

use std::ops::Range;

/// If `#[cfg(test)] mod name {` begins at `at`, other attributes and comments between: the place after its brace.
pub(super) fn test_module(text: &str, at: usize) -> Option<usize> {
    let mut rest = text[at..].strip_prefix("#[cfg(")?;
    let (condition, after) = rest.split_once(")]")?;
    if !is_test(condition) {
        return None;
    }
    rest = after;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n')?.1;
        } else if let Some(attribute) = rest.strip_prefix("#[") {
            // One with a bracket of its own is left to the parser.
            let (inner, after) = attribute.split_once(']')?;
            if inner.contains(['[', '"']) {
                return None;
            }
            rest = after;
        } else {
            break;
        }
    }
    if let Some(after) = rest.strip_prefix("pub") {
        rest = after.trim_start();
        if rest.starts_with('(') {
            rest = rest.split_once(')')?.1.trim_start();
        }
    }
    let rest = rest.strip_prefix("mod")?;
    let name = rest.trim_start();
    let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    let body = name[end..].trim_start().strip_prefix('{')?;
    (name.len() < rest.len() && end > 0).then(|| text.len() - body.len())
}

/// Whether the condition of a `cfg` is that of a test: `test`, `all(test, …)`, `any(test, …)`.
pub(crate) fn is_test(condition: &str) -> bool {
    let text: String = condition.split_whitespace().collect();
    text == "test" || text.starts_with("all(test") || text.starts_with("any(test")
}

/// The text without these stretches, which are in order and do not overlap. Everything else keeps its line and column.
pub(super) fn without(text: &str, stretches: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for stretch in stretches {
        out.push_str(&text[at..stretch.start]);
        let left = &text[stretch.clone()];
        out.extend(left.bytes().filter(|byte| *byte == b'\n').map(char::from));
        let last = left.rsplit_once('\n').map_or(left, |(_, last)| last);
        // At the end of a line nothing follows that has a column.
        if !text[stretch.end..].starts_with('\n') {
            out.extend(last.chars().map(|_| ' '));
        }
        at = stretch.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inline_modules_under_cfg_test_are_known() {
        let opens = |text: &str| test_module(text, 0).map(|at| text[at..].to_owned());
        for text in [
            "#[cfg(test)]\nmod tests { x",
            "#[cfg(test)] pub(crate) mod t{ x",
            "#[cfg(all(test, unix))]\n// why\n#[allow(dead_code)]\nmod t { x",
            "#[cfg( test )]\nmod t { x",
        ] {
            assert_eq!(opens(text).as_deref(), Some(" x"), "{text}");
        }
        for text in [
            "#[cfg(test)]\nmod tests;",
            "#[cfg(not(test))] mod t { x",
            "#[cfg(test)] fn mod_t() { x",
            "#[cfg(test)] modest { x",
            "#[cfg(test)] #[doc = \"]\"] mod t { x",
            "#[cfg(test)] mod { x",
            "#[cfg(test",
            "#[cfg(test)] #[path",
        ] {
            assert_eq!(opens(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_left_keeps_its_place() {
        let text = "a /* é\nü */ b\n/// c\nd";
        let at = |word: &str| text.find(word).expect("there");
        let out = without(text, &[at("/*")..at(" b"), at("///")..at("\nd")]);
        assert_eq!(out, "a \n     b\n\nd");
    }
}
